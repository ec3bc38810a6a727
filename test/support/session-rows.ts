/** Statements with which the first version writes a session with one event. */
export function olderRows(sessionId: string): string[] {
  const covered = '{"turns":0,"events":0,"contentLength":0,"tokens":0}';
  const payload = '{"id":"e1","author":"user","timestamp":1700000000000,"invocationId":"","actions":{"stateDelta":{}}}';
  return [
    `INSERT INTO agent_sessions (
      app_name, user_id, session_id, create_time, last_update_time, expires_at, first_seq, last_seq, tip_seq, high_water,
      turns, events, content_length, tokens, hidden, view_from_seq, summary_seq, marks_seq, covered, base_state
    ) VALUES (
      'shop', 'ann', '${sessionId}', 1700000000000, 1700000000000, 8640000000000000, 1, 1, 1, 1700000000000,
      0, 1, 0, 0, '[]', 0, 0, 0, '${covered}', '{}'
    )`,
    `INSERT INTO agent_session_events (session_pk, seq, event_id, digest, appended_at, high_water, anchor, payload)
      SELECT pk, 1, 'e1', 'digest', 1700000000000, 1700000000000, 1, '${payload}'
      FROM agent_sessions WHERE session_id = '${sessionId}'`,
  ];
}

/** A row of a new session, as the driver returns it. */
export const SESSION_ROW = {
  pk: 1,
  app_name: 'shop',
  user_id: 'ann',
  session_id: 's1',
  create_time: 1,
  last_update_time: 1,
  expires_at: 2,
  first_seq: 1,
  last_seq: 0,
  tip_seq: 0,
  high_water: 0,
  turns: 0,
  events: 0,
  content_length: 0,
  tokens: 0,
  hidden: '[]',
  view_from_seq: 0,
  summary_seq: 0,
  marks_seq: 0,
  covered: '{"turns":0,"events":0,"contentLength":0,"tokens":0}',
  turns_only: 0,
  turn_number: 0,
  turn_token: '',
  turn_holder: '',
  turn_request: '',
  turn_expires_at: 0,
  dispatched_seq: 0,
  waiting_since: 0,
  state_bytes: 0,
};
