import { exact, index, number, table, text } from './table.js';

/** A text beside the sessions that processes share: `EntryStore`. */
export const ENTRIES = table({
  name: 'agent_entries',
  columns: {
    space: exact(400),
    name: exact(1_024),
    stamp: number,
    entry_rank: number,
    since_time: number,
    expires_at: number,
    content: text,
  },
  primaryKey: ['space', 'name'],
  fillFactor: 70,
  indexes: {
    agent_entries_by_rank: index(['space', 'entry_rank', 'name']),
    agent_entries_by_expiry: index(['expires_at']),
  },
});
