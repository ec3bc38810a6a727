import type { RecordLine } from '../../src/sessions/storage/record-text.js';
import { lineOf } from './record-lines.js';

/**
 * Inconsistencies in the tables of an idle store: child rows without a parent, logs with gaps, duplicate ids, records
 * that contradict their logs. It uses the documented tables, not the code of the store. The logs must not have summaries
 * or rewinds, and metadata no names such as those of its entries.
 */
export async function sqlProblems(rowsOf: (query: string) => Promise<readonly unknown[]>): Promise<string[]> {
  const problems: string[] = [];
  for (const [problem, query] of Object.entries(CHECKS)) {
    for (const row of await rowsOf(query)) problems.push(`${problem}: ${JSON.stringify(row)}`);
  }
  const records = (await rowsOf(RECORDS)) as readonly Record<string, unknown>[];
  for (const row of records) if (!hasRightRecord(row)) problems.push(`wrong record: ${JSON.stringify(row)}`);
  return problems;
}

const RECORDS = `
  SELECT s.pk, s.record, s.last_seq, s.last_update_time, s.expires_at, s.stamp, COUNT(e.seq) AS events,
    COALESCE(MAX(e.high_water), 0) AS water, COUNT(CASE WHEN e.payload LIKE '%"author":"user","content"%' THEN 1 END) AS turns
  FROM agent_sessions s LEFT JOIN agent_session_events e ON e.session_pk = s.pk
  GROUP BY s.pk, s.record, s.last_seq, s.last_update_time, s.expires_at, s.stamp`;

/** Whether a record has the counters of its events, and its columns have what it says. */
function hasRightRecord(row: Record<string, unknown>): boolean {
  const line = (name: RecordLine): number => Number(lineOf(row.record, name));
  const [turns, events] = lineOf(row.record, 'counters').split(' ').map(Number);
  const last = line('last');
  return (
    turns === Number(row.turns) &&
    events === Number(row.events) &&
    line('water') >= Number(row.water) &&
    [line('tip'), Number(row.last_seq)].every((seq) => seq === last) &&
    line('updated') === Number(row.last_update_time) &&
    line('expires') === Number(row.expires_at) &&
    line('stamp') === Number(row.stamp)
  );
}

const orphans = (child: string, parent: string, key: string): string =>
  `SELECT c.${key} FROM ${child} c LEFT JOIN ${parent} p ON p.pk = c.${key} WHERE p.pk IS NULL`;

const twice = (table: string, columns: string): string =>
  `SELECT ${columns}, COUNT(*) AS times FROM ${table} GROUP BY ${columns} HAVING COUNT(*) > 1`;

/** How often a word is in the metadata, in any database. */
export function occurrences(word: string): string {
  return `(LENGTH(s.metadata) - LENGTH(REPLACE(s.metadata, '${word}', ''))) / ${word.length}`;
}

const CHECKS: Readonly<Record<string, string>> = {
  'event without a session': orphans('agent_session_events', 'agent_sessions', 'session_pk'),
  'checkpoint without a session': orphans('agent_session_checkpoints', 'agent_sessions', 'session_pk'),
  'partial event without a session': orphans('agent_session_partials', 'agent_sessions', 'session_pk'),
  'state without a session': orphans('agent_session_state', 'agent_sessions', 'session_pk'),
  'index entry without a session': orphans('agent_session_index', 'agent_sessions', 'session_pk'),
  'index entry that disagrees with its session': `
    SELECT i.session_pk, i.entry FROM agent_session_index i JOIN agent_sessions s ON s.pk = i.session_pk
    WHERE i.app_name <> s.app_name OR i.user_id <> s.user_id OR i.session_id <> s.session_id
      OR i.create_time <> s.create_time OR s.metadata NOT LIKE CONCAT('%', i.entry, '%')`,
  'session with more or fewer index entries than its metadata': `
    SELECT s.pk FROM agent_sessions s LEFT JOIN agent_session_index i ON i.session_pk = s.pk GROUP BY s.pk, s.metadata
    HAVING COUNT(i.entry) <> ${['status', 'tag:', 'label:'].map(occurrences).join(' + ')}`,
  'shared state without a scope': orphans('agent_shared_state', 'agent_shared_scopes', 'scope_pk'),
  'duplicate session': twice('agent_sessions', 'app_name, user_id, session_id'),
  'duplicate event': twice('agent_session_events', 'session_pk, event_id'),
  'duplicate seq': twice('agent_session_events', 'session_pk, seq'),
  'duplicate scope': twice('agent_shared_scopes', 'app_name, user_id'),
  'log with gaps': `
    SELECT s.pk, s.last_seq, COUNT(e.seq) AS events FROM agent_sessions s
    LEFT JOIN agent_session_events e ON e.session_pk = s.pk GROUP BY s.pk, s.last_seq
    HAVING COUNT(e.seq) <> s.last_seq OR COALESCE(MIN(e.seq), 1) <> 1 OR COALESCE(MAX(e.seq), 0) <> s.last_seq`,
  'high water that decreases': `
    SELECT a.session_pk, a.seq FROM agent_session_events a
    JOIN agent_session_events b ON b.session_pk = a.session_pk AND b.seq = a.seq - 1 AND b.high_water > a.high_water`,
  'empty scope': `
    SELECT c.pk FROM agent_shared_scopes c LEFT JOIN agent_shared_state v ON v.scope_pk = c.pk WHERE v.scope_pk IS NULL`,
};
