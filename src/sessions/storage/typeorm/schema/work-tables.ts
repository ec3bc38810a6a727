import { count, exact, generatedKey, id, index, key, number, table, text, unique } from './table.js';

/** A held lease. */
export const LEASES = table({
  name: 'agent_leases',
  columns: { token: generatedKey, name: exact(400), holder: id, expires_at: number },
  primaryKey: ['token'],
  indexes: { agent_leases_name: unique(['name']), agent_leases_by_expiry: index(['expires_at']) },
});

/** What has to be looked at later. */
export const AGENDA = table({
  name: 'agent_agenda',
  columns: { name: exact(800), due_time: number },
  primaryKey: ['name'],
  indexes: { agent_agenda_by_due_time: index(['due_time', 'name']) },
});

/** A durable consumer. */
export const CONSUMERS = table({
  name: 'agent_consumers',
  columns: { name: id, registered_at: number, settings: text },
  primaryKey: ['name'],
});

/** What a consumer has left to do in a session, or a dead letter. */
export const CONSUMER_WORK = table({
  name: 'agent_consumer_work',
  columns: {
    session_pk: key,
    consumer: id,
    letter_seq: count,
    seq: count,
    up_to: count,
    tries: count,
    since_time: number,
    due_time: number,
    claim: id,
    problem: text,
  },
  primaryKey: ['session_pk', 'consumer', 'letter_seq'],
  parent: 'agent_sessions',
  indexes: { agent_consumer_work_by_due_time: index(['consumer', 'due_time']) },
});

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
