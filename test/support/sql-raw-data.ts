import type { RawData } from '../../src/testing/open-storage.js';

/** The tables without child tables, whose rows are deleted with their parents. */
export const PARENT_TABLES = [
  'agent_sessions',
  'agent_shared_scopes',
  'agent_leases',
  'agent_agenda',
  'agent_consumers',
];
const CHILD_TABLES = [
  'agent_session_events',
  'agent_session_checkpoints',
  'agent_session_state',
  'agent_session_index',
  'agent_shared_state',
  'agent_consumer_work',
];

/** The data of the tables. */
export async function readRawTables(rowsOf: (table: string) => Promise<readonly unknown[]>): Promise<RawData> {
  const tables = new Map<string, readonly unknown[]>();
  for (const table of [...PARENT_TABLES, ...CHILD_TABLES]) tables.set(table, await rowsOf(table));
  const count = (table: string): number => tables.get(table)?.length ?? 0;
  return {
    sessions: count('agent_sessions'),
    events: count('agent_session_events'),
    stateEntries: count('agent_session_state') + count('agent_shared_state'),
    text: JSON.stringify([...tables]),
  };
}
