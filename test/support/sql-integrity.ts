/**
 * What is wrong with the tables of sessions while nobody is at work: rows of a child without a parent, logs with
 * gaps, ids that are there twice, records that do not agree with their logs. It knows the tables from the
 * documentation, not from the code. The logs have to hold neither summaries nor rewinds, which count nothing.
 */
export async function sqlProblems(rowsOf: (query: string) => Promise<readonly unknown[]>): Promise<string[]> {
  const problems: string[] = [];
  for (const [problem, query] of Object.entries(CHECKS)) {
    for (const row of await rowsOf(query)) problems.push(`${problem}: ${JSON.stringify(row)}`);
  }
  return problems;
}

const orphans = (child: string, parent: string, key: string): string =>
  `SELECT c.${key} FROM ${child} c LEFT JOIN ${parent} p ON p.pk = c.${key} WHERE p.pk IS NULL`;

const twice = (table: string, columns: string): string =>
  `SELECT ${columns}, COUNT(*) AS times FROM ${table} GROUP BY ${columns} HAVING COUNT(*) > 1`;

const CHECKS: Readonly<Record<string, string>> = {
  'event without a session': orphans('agent_session_events', 'agent_sessions', 'session_pk'),
  'state without a session': orphans('agent_session_state', 'agent_sessions', 'session_pk'),
  'shared state without a scope': orphans('agent_shared_state', 'agent_shared_scopes', 'scope_pk'),
  'session twice': twice('agent_sessions', 'app_name, user_id, session_id'),
  'event twice': twice('agent_session_events', 'session_pk, event_id'),
  'place of a log taken twice': twice('agent_session_events', 'session_pk, seq'),
  'scope twice': twice('agent_shared_scopes', 'app_name, user_id'),
  'log with gaps': `
    SELECT s.pk, s.last_seq, COUNT(e.seq) AS events FROM agent_sessions s
    LEFT JOIN agent_session_events e ON e.session_pk = s.pk GROUP BY s.pk, s.last_seq
    HAVING COUNT(e.seq) <> s.last_seq OR COALESCE(MIN(e.seq), 1) <> 1 OR COALESCE(MAX(e.seq), 0) <> s.last_seq`,
  'record that counts something else than its log holds': `
    SELECT s.pk, s.events, s.turns, s.tip_seq FROM agent_sessions s
    LEFT JOIN agent_session_events e ON e.session_pk = s.pk
    GROUP BY s.pk, s.events, s.turns, s.last_seq, s.tip_seq, s.high_water
    HAVING s.events <> COUNT(e.seq) OR s.tip_seq <> s.last_seq OR s.high_water < COALESCE(MAX(e.high_water), 0)
      OR s.turns <> COUNT(CASE WHEN e.payload LIKE '%"author":"user","content"%' THEN 1 END)`,
  'time that goes back along a log': `
    SELECT a.session_pk, a.seq FROM agent_session_events a
    JOIN agent_session_events b ON b.session_pk = a.session_pk AND b.seq = a.seq - 1 AND b.high_water > a.high_water`,
  'scope that holds nothing': `
    SELECT c.pk FROM agent_shared_scopes c LEFT JOIN agent_shared_state v ON v.scope_pk = c.pk WHERE v.scope_pk IS NULL`,
};
