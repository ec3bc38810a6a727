import { COUNTERS, type Counters } from '../../src/sessions/domain/stored/counters.js';
import { NEVER } from '../../src/sessions/domain/values/expiry.js';
import { newRecord } from '../../src/sessions/domain/stored/session-record.js';
import { type RecordLine, RECORD_LINES, recordText } from '../../src/sessions/storage/record-text.js';

type Changes = Partial<Record<RecordLine, string | number>>;

/** In SQL, the key of the row stands for the incarnation, the first line. */
const LINES_IN_SQL = RECORD_LINES.slice(1);

/** The key of the record of {@link newText}. */
export const RECORD_KEY = { appName: 'shop', userId: 'ann', sessionId: 's1' };

/** The text of the record of a new session, with other lines. */
export function newText(changes: Changes = {}): string {
  const lines = recordText({ record: newRecord(RECORD_KEY, '1', 1, NEVER), stamp: 1 }).split('\n');
  return RECORD_LINES.map((name, index) => changes[name] ?? lines[index]).join('\n');
}

/** A record in SQL with other lines. */
export function changedText(record: unknown, changes: Changes): string {
  const lines = linesOf(record);
  return LINES_IN_SQL.map((name, index) => changes[name] ?? lines[index]).join('\n');
}

/** A record in SQL in three parts: between the first and the second is the time of creation, then that of the update. */
export function aroundTimes(record: unknown): readonly [between: string, after: string] {
  const lines = linesOf(record);
  const place = LINES_IN_SQL.indexOf('updated');
  return [`\n${lines.slice(1, place).join('\n')}\n`, `\n${lines.slice(place + 1).join('\n')}`];
}

/** Lines that have a column, too. */
const COLUMNS: Partial<Record<RecordLine, string>> = {
  created: 'create_time',
  updated: 'last_update_time',
  expires: 'expires_at',
  first: 'first_seq',
  last: 'last_seq',
  viewFrom: 'view_from_seq',
  summary: 'summary_seq',
  stateBytes: 'state_bytes',
  waiting: 'waiting_since',
  stamp: 'stamp',
};

/** The line of counters with these values; the others are 0. */
export function countersLine(counters: Partial<Counters>): string {
  return COUNTERS.map((name) => counters[name] ?? 0).join(' ');
}

/** Statements that change the records of these rows, which have `pk` and `record`, and their columns. */
export function updatesOfRecords(
  rows: readonly Record<string, unknown>[],
  changes: Changes | ((lines: (name: RecordLine) => string) => Changes),
): string[] {
  return rows.map(({ pk, record }) => {
    const changed = typeof changes === 'function' ? changes((name) => lineOf(record, name)) : changes;
    const names = Object.keys(changed) as RecordLine[];
    const columns = names.flatMap((name) => (COLUMNS[name] ? [`${COLUMNS[name]} = ${changed[name]}`] : []));
    const sets = [`record = '${changedText(record, changed)}'`, ...columns];
    return `UPDATE agent_sessions SET ${sets.join(', ')} WHERE pk = ${Number(pk)}`;
  });
}

/** A line of a record in SQL. */
export function lineOf(record: unknown, line: RecordLine): string {
  return linesOf(record)[LINES_IN_SQL.indexOf(line)] ?? '';
}

function linesOf(record: unknown): string[] {
  return String(record).split('\n');
}
