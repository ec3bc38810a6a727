import { AGENTS, STREAM_AGENT } from '../../src/agents/surface/agent-operations.js';
import { SEARCH } from '../../src/search/surface/search-operations.js';
import { EVENT_OPERATIONS, STREAM_EVENTS } from '../../src/sessions/surface/event-operations.js';
import { type Operation, idsIn } from '../../src/sessions/surface/operation.js';
import { SESSION_OPERATIONS } from '../../src/sessions/surface/session-operations.js';
import { STATE_OPERATIONS } from '../../src/sessions/surface/state-operations.js';
import { TURNS } from '../../src/sessions/surface/turn-operations.js';
import { USAGE } from '../../src/sessions/surface/usage-operations.js';
import { SUMMARIES } from '../../src/summarizer/surface/summary-operations.js';

export type Row = Omit<Operation<never>, 'run'>;

const OF_SESSIONS = {
  ...SESSION_OPERATIONS.operations,
  ...EVENT_OPERATIONS.operations,
  streamEvents: STREAM_EVENTS,
  ...STATE_OPERATIONS.operations,
  ...TURNS.operations,
  ...USAGE.operations,
  ...SUMMARIES.operations,
  ...SEARCH.operations,
};
const OF_AGENTS = { ...AGENTS.operations, streamAgent: STREAM_AGENT };

export type RowName = keyof typeof OF_SESSIONS | keyof typeof OF_AGENTS;

/** All operations, in the order of the docs. */
export const ROWS: Readonly<Record<RowName, Row>> = { ...OF_SESSIONS, ...OF_AGENTS };
export const ROW_NAMES = Object.keys(ROWS) as RowName[];
export const AGENT_ROWS = Object.keys(OF_AGENTS) as RowName[];

/** The route of a row, as Express names it. */
export function routeOf({ route }: Row): string | undefined {
  return route?.at.replace(' ', ' /');
}

/** The ids that a request names. */
export function idsOf({ ids, route }: Row): readonly string[] {
  return ids ?? (route ? idsIn(route) : []);
}
