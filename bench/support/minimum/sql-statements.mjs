/** The least schema: the state is one text in the row of its session. */
export const TABLES = [
  `CREATE TABLE minimum_sessions (
    id VARCHAR(100) PRIMARY KEY, user_id VARCHAR(100) NOT NULL, updated BIGINT NOT NULL, state TEXT NOT NULL)`,
  'CREATE INDEX minimum_sessions_by_user ON minimum_sessions (user_id, updated)',
  `CREATE TABLE minimum_events (
    session_id VARCHAR(100) NOT NULL, seq INTEGER NOT NULL, id VARCHAR(100) NOT NULL, payload TEXT NOT NULL,
    PRIMARY KEY (session_id, seq))`,
];

export const STATEMENTS = {
  insertSession: 'INSERT INTO minimum_sessions (id, user_id, updated, state) VALUES (?, ?, ?, ?)',
  insertEvent: 'INSERT INTO minimum_events (session_id, seq, id, payload) VALUES (?, ?, ?, ?)',
  updateSession: 'UPDATE minimum_sessions SET updated = ?, state = ? WHERE id = ?',
  selectSession: 'SELECT updated, state FROM minimum_sessions WHERE id = ?',
  selectEvents: 'SELECT payload FROM minimum_events WHERE session_id = ? ORDER BY seq DESC LIMIT ?',
  selectPage: 'SELECT id, updated, state FROM minimum_sessions WHERE user_id = ? ORDER BY updated DESC LIMIT ?',
};

/** More than any session here has. */
export const ALL = 1_000_000;

export function newSession(id) {
  return { id, seq: 0, state: { step: 0 } };
}

/** The values of `insertEvent` and `updateSession`. */
export function writeOf(session, event) {
  Object.assign(session.state, event.actions.stateDelta);
  return {
    insertEvent: [session.id, ++session.seq, event.id, JSON.stringify(event)],
    updateSession: [Date.now(), JSON.stringify(session.state), session.id],
  };
}

export function readSession(session, events) {
  return {
    ...session,
    state: JSON.parse(session.state),
    events: events.map(({ payload }) => JSON.parse(payload)).toReversed(),
  };
}

export function readPage(rows) {
  return rows.map((row) => ({ ...row, state: JSON.parse(row.state) }));
}
