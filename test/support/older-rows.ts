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
