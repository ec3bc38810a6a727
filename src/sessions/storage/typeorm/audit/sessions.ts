import { indexEntries } from '../../../domain/metadata/metadata-entries.js';
import type { StoreProblem } from '../../store-audit.js';
import { DamagedDataError } from '../../../domain/stored/stored-json.js';
import { SESSIONS } from '../schema/session-tables.js';
import { listColumns, type RowOf } from '../schema/table.js';
import { changeIndex, toSessionHead, type RecordRow, toSessionRow } from '../sql/session-rows.js';
import { equalities, Sql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction, Transactions } from '../sql/transaction.js';
import type { StepRequest, StepResult } from './step.js';

/** Without what may be large, and is not compared. */
const COLUMNS = new Sql(
  listColumns(SESSIONS)
    .flatMap(([name]) => (name === 'base_state' ? [] : [`s.${name}`]))
    .join(', '),
);

interface SessionRow extends Omit<RowOf<typeof SESSIONS>, 'base_state'> {
  /** Rows of trimmed events. */
  readonly trimmed: number;
  /** The last row of an event; NULL if there is none. */
  readonly last_event: number | null;
}

interface IndexRow {
  readonly session_pk: number;
  readonly entry: string;
  readonly app_name: string;
  readonly user_id: string;
  readonly session_id: string;
  readonly create_time: number;
}

/** Compares the index of metadata, and the ends of logs, with the sessions. */
export async function auditSessions(
  transactions: Transactions,
  { after, limit, repair }: StepRequest,
): Promise<StepResult> {
  const { sessions, entries } = await transactions.read((transaction) => readPage(transaction, after, limit));
  const problems: StoreProblem[] = [];
  for (const session of sessions) {
    const { app_name: appName, user_id: userId, session_id: sessionId } = session;
    const problem = { appName, userId, sessionId };
    problems.push(...logProblems(session).map((found) => ({ ...problem, ...found })));
    const rows = entries.filter(({ session_pk: pk }) => pk === session.pk);
    const different = [
      !hasColumnsOfRecord(session) && 'the columns of the session are not those of its record',
      !isIndexed(session, rows) && 'the rows in the index of metadata are not those of the metadata',
    ].filter((detail) => detail !== false);
    if (different.length === 0) continue;
    if (repair) await transactions.write((transaction) => rebuildIndex(transaction, session.pk));
    problems.push({ ...problem, code: 'INDEX_DIFFERS', detail: different.join('; '), isRepaired: repair });
  }
  return { problems, examined: sessions.length, last: sessions.length < limit ? undefined : sessions.at(-1)?.pk };
}

async function readPage(
  transaction: SqlTransaction,
  after: number,
  limit: number,
): Promise<{ sessions: readonly SessionRow[]; entries: readonly IndexRow[] }> {
  const { tables, now } = transaction;
  const sessions = await transaction.rows<SessionRow>(sql`
    SELECT ${COLUMNS},
      (SELECT COUNT(*) FROM ${tables.events} t WHERE t.session_pk = s.pk AND t.seq < s.first_seq) AS trimmed,
      (SELECT MAX(e.seq) FROM ${tables.events} e WHERE e.session_pk = s.pk) AS last_event
    FROM ${tables.sessions} s WHERE s.pk > ${after} AND s.expires_at > ${now} ORDER BY s.pk LIMIT ${limit}`);
  if (sessions.length === 0) return { sessions, entries: [] };
  const entries = await transaction.rows<IndexRow>(sql`
    SELECT session_pk, entry, app_name, user_id, session_id, create_time FROM ${tables.sessionIndex}
    WHERE session_pk IN (${sqlList(sessions.map(({ pk }) => pk))})`);
  return { sessions, entries };
}

function logProblems({ first_seq: first, last_seq: last, trimmed, last_event: lastEvent }: SessionRow): StoreProblem[] {
  const lacking = first - 1 - trimmed;
  return [
    ...(lacking > 0
      ? [{ code: 'EVENT_MISSING' as const, detail: `${lacking} of ${first - 1} trimmed events have no row` }]
      : []),
    ...((lastEvent ?? 0) > last
      ? [{ code: 'EVENT_BEYOND_END' as const, detail: `the last event is ${lastEvent}, and the record says ${last}` }]
      : []),
  ];
}

/** A record that cannot be read is another problem, which no column can solve. */
function hasColumnsOfRecord(row: SessionRow): boolean {
  const expected = columnsOfRecord(row);
  return (
    expected === undefined || Object.entries(expected).every(([name, value]) => row[name as keyof SessionRow] === value)
  );
}

function columnsOfRecord(row: RecordRow): ReturnType<typeof toSessionRow> | undefined {
  try {
    return toSessionRow(toSessionHead(row));
  } catch (error) {
    if (error instanceof DamagedDataError) return undefined;
    throw error;
  }
}

function isIndexed(session: SessionRow, rows: readonly IndexRow[]): boolean {
  const expected = new Set(indexEntries(session.metadata));
  const isRight = (row: IndexRow): boolean =>
    expected.has(row.entry) &&
    row.app_name === session.app_name &&
    row.user_id === session.user_id &&
    row.session_id === session.session_id &&
    row.create_time === session.create_time;
  return rows.length === expected.size && rows.every(isRight);
}

/** Writes the columns and the index of a session anew, under its lock. */
async function rebuildIndex(transaction: SqlTransaction, pk: number): Promise<void> {
  const { tables, dialect } = transaction;
  const [row] = await transaction.lockedRows<SessionRow>(
    sql`SELECT ${COLUMNS} FROM ${tables.sessions} s WHERE s.pk = ${pk} ${dialect.lock('s')}`,
  );
  if (!row) return;
  const columns = columnsOfRecord(row);
  if (columns) {
    await transaction.change(
      sql`UPDATE ${tables.sessions} SET ${equalities(Object.entries(columns), ', ')} WHERE pk = ${pk}`,
    );
  }
  await transaction.change(sql`DELETE FROM ${tables.sessionIndex} WHERE session_pk = ${pk}`);
  const { app_name: appName, user_id: userId, session_id: sessionId, create_time: createTime } = row;
  const key = { appName, userId, sessionId, createTime };
  await transaction.changeAll(changeIndex(tables, { pk, record: key, before: '', after: row.metadata }));
}
