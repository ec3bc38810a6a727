import { CHECKPOINTS, EVENTS, PARTIALS, SESSION_INDEX, SESSION_STATE, SESSIONS } from './session-tables.js';
import { SHARED_SCOPES, SHARED_STATE } from './shared-tables.js';
import type { Table } from './table.js';
import { SHARED_USAGE } from './usage-tables.js';
import { ENTRIES } from './entry-table.js';

/** Every table of the store, by what it is for. Parents come before their children. */
export const ALL_TABLES = {
  sessions: SESSIONS,
  events: EVENTS,
  checkpoints: CHECKPOINTS,
  partials: PARTIALS,
  sessionState: SESSION_STATE,
  sessionIndex: SESSION_INDEX,
  sharedScopes: SHARED_SCOPES,
  sharedState: SHARED_STATE,
  sharedUsage: SHARED_USAGE,
  entries: ENTRIES,
} as const satisfies Readonly<Record<string, Table>>;

/** A table, by what it is for. */
export type TableKey = keyof typeof ALL_TABLES;
