import { count, exact, id, index, key, generatedKey, number, table, text, textOrNull, unique } from './table.js';

/** One incarnation of a session. */
export const SESSIONS = table({
  name: 'agent_sessions',
  columns: {
    pk: generatedKey,
    app_name: id,
    user_id: id,
    session_id: id,
    // All that decides about writes, as one text; after it what indexes and conditions need of it.
    record: text,
    create_time: number,
    last_update_time: number,
    expires_at: number,
    first_seq: count,
    last_seq: count,
    view_from_seq: count,
    summary_seq: count,
    state_bytes: number,
    waiting_since: number,
    stamp: number,
    // Of `last_update_time` and `expires_at`, for the indexes: see `sql/minutes.ts`.
    update_minute: number,
    expiry_minute: number,
    metadata: text,
    // As one text, or NULL: then it has rows of its own.
    state: textOrNull,
    base_state: text,
  },
  primaryKey: ['pk'],
  fillFactor: 70,
  indexes: {
    agent_sessions_key: unique(['app_name', 'user_id', 'session_id']),
    agent_sessions_by_update: index(['app_name', 'user_id', 'update_minute', 'session_id']),
    agent_sessions_by_creation: index(['app_name', 'user_id', 'create_time', 'session_id']),
    agent_sessions_of_app_by_update: index(['app_name', 'update_minute', 'user_id', 'session_id']),
    agent_sessions_of_app_by_creation: index(['app_name', 'create_time', 'user_id', 'session_id']),
    agent_sessions_by_expiry: index(['expiry_minute']),
    agent_sessions_waiting: {
      columns: ['waiting_since'],
      only: { where: '"waiting_since" > 0', else: ['waiting_since'] },
    },
  },
});

/** The log: one event. Of a trimmed event its digest, and no payload. */
export const EVENTS = table({
  name: 'agent_session_events',
  columns: {
    session_pk: key,
    seq: count,
    event_id: id,
    digest: exact(255),
    appended_at: number,
    high_water: number,
    anchor: count,
    payload: textOrNull,
    event_group: exact(64),
  },
  primaryKey: ['session_pk', 'seq'],
  parent: 'agent_sessions',
  indexes: {
    agent_session_events_by_id: unique(['session_pk', 'event_id']),
    agent_session_events_by_group: index(['session_pk', 'event_group', 'seq']),
    agent_session_events_anchors: {
      columns: ['session_pk', 'seq'],
      only: { where: '"anchor" = 1', else: ['session_pk', 'anchor', 'seq'] },
    },
  },
});

/** What follows from the log up to an event. */
export const CHECKPOINTS = table({
  name: 'agent_session_checkpoints',
  columns: { session_pk: key, seq: count, content: text },
  primaryKey: ['session_pk', 'seq'],
  parent: 'agent_sessions',
});

/** A partial event, until a commit completes its message. */
export const PARTIALS = table({
  name: 'agent_session_partials',
  columns: { session_pk: key, number, after_seq: count, message_id: id, expires_at: number, content: text },
  primaryKey: ['session_pk', 'number'],
  parent: 'agent_sessions',
  indexes: { agent_session_partials_by_expiry: index(['expires_at']) },
});

/** A key of session state. */
export const SESSION_STATE = table({
  name: 'agent_session_state',
  columns: { session_pk: key, name: exact(512), value: text },
  primaryKey: ['session_pk', 'name'],
  parent: 'agent_sessions',
});

/** A status, tag or label of a session, by which lists are filtered. */
export const SESSION_INDEX = table({
  name: 'agent_session_index',
  columns: { session_pk: key, entry: exact(600), app_name: id, user_id: id, session_id: id, create_time: number },
  primaryKey: ['session_pk', 'entry'],
  parent: 'agent_sessions',
  indexes: {
    agent_session_index_of_user: index(['app_name', 'user_id', 'entry', 'create_time', 'session_id']),
    agent_session_index_of_app: index(['app_name', 'entry', 'create_time', 'user_id', 'session_id']),
  },
});
