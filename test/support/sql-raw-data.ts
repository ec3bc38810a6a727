import { entriesOfText } from '../../src/sessions/domain/stored/state-text.js';
import { sessionEntities } from '../../src/sessions/storage/typeorm/schema/entities.js';
import type { RawData } from '../../src/testing/open-storage.js';

const entities = sessionEntities('postgres').map(({ options }) => options);
const TABLES = entities.map(({ name }) => name);

/** The tables without child tables, whose rows are deleted with their parents. */
const PARENT_TABLES = entities.filter(({ relations }) => !relations).map(({ name }) => name);

/** Removes all rows with one message and one commit. */
export const EMPTY_TABLES = ['BEGIN', ...PARENT_TABLES.map((table) => `DELETE FROM ${table}`), 'COMMIT'].join('; ');

/** How many keys the states have that are one text each. */
export function keysInTexts(sessions: readonly unknown[] = []): number {
  const texts = sessions.map((row) => (row as { readonly state: string | null }).state ?? '');
  return texts.reduce((sum, text) => sum + entriesOfText(text).length, 0);
}

/** The data of the tables. */
export async function readRawTables(rowsOf: (table: string) => Promise<readonly unknown[]>): Promise<RawData> {
  const tables = new Map<string, readonly unknown[]>();
  for (const table of TABLES) tables.set(table, await rowsOf(table));
  const count = (table: string): number => tables.get(table)?.length ?? 0;
  return {
    sessions: count('agent_sessions'),
    events: count('agent_session_events'),
    stateEntries:
      keysInTexts(tables.get('agent_sessions')) + count('agent_session_state') + count('agent_shared_state'),
    text: JSON.stringify([...tables]),
  };
}
