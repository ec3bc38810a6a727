import { groupBy } from '../../batches.js';
import type { ListRequest, ListResult, ListedSession, StateEntries } from '../../session-storage.js';
import { type ListedRow, METADATA_COLUMN, columnsWith, recordOf } from '../sql/session-rows.js';
import { NO_SQL, Sql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { type FilteredPage, filteredPage } from './filtered-page.js';
import { afterPosition, inOrder, ofOwner } from './list-order.js';

const TIME_COLUMN = { lastUpdateTime: new Sql('s.last_update_time'), createTime: new Sql('s.create_time') };

/** Reads a page of sessions, and their state with one more statement. */
export async function listSessions(transaction: SqlTransaction, request: ListRequest): Promise<ListResult> {
  const { rows, examinedTo } = await pageOf(transaction, request);
  const isWithoutState = rows.length === 0 || request.withState === false;
  return {
    sessions: isWithoutState ? rows.map(withoutState) : await withState(transaction, rows),
    ...(request.withTotal && { total: await countOf(transaction, request) }),
    ...(examinedTo && { examinedTo }),
  };
}

async function pageOf(transaction: SqlTransaction, request: ListRequest): Promise<FilteredPage> {
  const { filter } = request;
  if (filter) return filteredPage(transaction, { ...request, filter });
  return { rows: await transaction.rows<ListedRow>(pageOfSessions(transaction, request)) };
}

function listedSessions(request: ListRequest, now: number): Sql {
  return sql`${ofOwner(request, new Sql('s'))} AND s.expires_at > ${now}`;
}

function pageOfSessions({ tables: { sessions }, now }: SqlTransaction, request: ListRequest): Sql {
  const { limit, offset } = request;
  const time = TIME_COLUMN[request.orderBy];
  return sql`
    SELECT ${columnsWith(METADATA_COLUMN)} FROM ${sessions} s
    WHERE ${listedSessions(request, now)} ${afterPosition(request, new Sql('s'), time)}
    ${inOrder(request, new Sql('s'), time)}
    LIMIT ${limit} ${offset ? sql`OFFSET ${offset}` : NO_SQL}`;
}

async function countOf(transaction: SqlTransaction, request: ListRequest): Promise<number> {
  const [count] = await transaction.rows<{ total: number }>(
    sql`SELECT COUNT(*) AS total FROM ${transaction.tables.sessions} s WHERE ${listedSessions(request, transaction.now)}`,
  );
  return count?.total ?? 0;
}

interface StateRow {
  readonly session_pk: number | null;
  readonly user_id: string | null;
  readonly name: string;
  readonly value: string;
}

function withoutState(row: ListedRow): ListedSession {
  return { record: recordOf(row), metadata: row.metadata ?? '', state: { session: [], user: [], app: [] } };
}

async function withState(transaction: SqlTransaction, rows: readonly ListedRow[]): Promise<ListedSession[]> {
  const appName = rows[0]?.app_name ?? '';
  const users = [...new Set(rows.map(({ user_id }) => user_id))];
  const { sessionState, sharedScopes, sharedState } = transaction.tables;
  const states = await transaction.rows<StateRow>(sql`
    SELECT session_pk, NULL AS user_id, name, value FROM ${sessionState}
    WHERE session_pk IN (${sqlList(rows.map(({ pk }) => pk))})
    UNION ALL
    SELECT NULL, c.user_id, v.name, v.value
    FROM ${sharedScopes} c JOIN ${sharedState} v ON v.scope_pk = c.pk
    WHERE c.app_name = ${appName} AND c.user_id IN (${sqlList(['', ...users])}) AND c.expires_at > ${transaction.now}`);
  // By session or by user. The app has an empty user id.
  const entries = groupBy(states, ({ user_id: userId, session_pk: sessionPk }) => userId ?? sessionPk);
  return rows.map((row) => ({
    record: recordOf(row),
    metadata: row.metadata ?? '',
    state: {
      session: entriesOf(entries.get(row.pk)),
      user: entriesOf(entries.get(row.user_id)),
      app: entriesOf(entries.get('')),
    },
  }));
}

function entriesOf(rows: readonly StateRow[] = []): StateEntries {
  return rows.map(({ name, value }) => [name, value] as const);
}
