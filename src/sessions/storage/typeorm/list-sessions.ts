import type { ListRequest, ListResult, ListedSession, StateEntries } from '../session-storage.js';
import { RECORD_COLUMNS, type RecordRow, recordOf } from './session-rows.js';
import { NO_SQL, Sql, sql, sqlList } from './sql.js';
import type { SqlConnection } from './sql-connection.js';
import type { Tables } from './tables.js';

const TIME_COLUMN = { lastUpdateTime: new Sql('s.last_update_time'), createTime: new Sql('s.create_time') };

/** A page of sessions, and their state in one statement for all of them. */
export async function listSessions(
  connection: SqlConnection,
  tables: Tables,
  request: ListRequest,
  now: number,
): Promise<ListResult> {
  const rows = await connection.rows<RecordRow>(pageOfSessions(tables, request, now));
  return {
    sessions: rows.length > 0 ? await withState(connection, tables, rows, now) : [],
    ...(request.withTotal && { total: await countOf(connection, tables, request, now) }),
  };
}

function isListed({ appName, userId }: ListRequest, now: number): Sql {
  const ofUser = userId === undefined ? NO_SQL : sql`AND s.user_id = ${userId}`;
  return sql`s.app_name = ${appName} ${ofUser} AND s.expires_at > ${now}`;
}

function pageOfSessions({ sessions }: Tables, request: ListRequest, now: number): Sql {
  const { after, limit, offset } = request;
  const time = TIME_COLUMN[request.orderBy];
  const [direction, isBeyond] = request.order === 'asc' ? [sql`ASC`, sql`>`] : [sql`DESC`, sql`<`];
  const rest = after
    ? sql`AND (${time}, s.user_id, s.session_id) ${isBeyond} (${after.time}, ${after.userId}, ${after.sessionId})`
    : NO_SQL;
  return sql`
    SELECT ${RECORD_COLUMNS} FROM ${sessions} s
    WHERE ${isListed(request, now)} ${rest}
    ORDER BY ${time} ${direction}, s.user_id ${direction}, s.session_id ${direction}
    LIMIT ${limit} ${offset ? sql`OFFSET ${offset}` : NO_SQL}`;
}

async function countOf(
  connection: SqlConnection,
  { sessions }: Tables,
  request: ListRequest,
  now: number,
): Promise<number> {
  const [count] = await connection.rows<{ total: number }>(
    sql`SELECT COUNT(*) AS total FROM ${sessions} s WHERE ${isListed(request, now)}`,
  );
  return count?.total ?? 0;
}

interface StateRow {
  readonly session_pk: number | null;
  readonly user_id: string | null;
  readonly name: string;
  readonly value: string;
}

async function withState(
  connection: SqlConnection,
  { sessionState, sharedScopes, sharedState }: Tables,
  rows: readonly RecordRow[],
  now: number,
): Promise<ListedSession[]> {
  const appName = rows[0]?.app_name ?? '';
  const users = [...new Set(rows.map(({ user_id }) => user_id))];
  const states = await connection.rows<StateRow>(sql`
    SELECT session_pk, NULL AS user_id, name, value FROM ${sessionState}
    WHERE session_pk IN (${sqlList(rows.map(({ pk }) => pk))})
    UNION ALL
    SELECT NULL, c.user_id, v.name, v.value
    FROM ${sharedScopes} c JOIN ${sharedState} v ON v.scope_pk = c.pk
    WHERE c.app_name = ${appName} AND c.user_id IN (${sqlList(['', ...users])}) AND c.expires_at > ${now}`);
  const entries = groupByOwner(states);
  return rows.map((row) => ({
    record: recordOf(row),
    state: {
      session: entriesOf(entries.get(row.pk)),
      user: entriesOf(entries.get(row.user_id)),
      app: entriesOf(entries.get('')),
    },
  }));
}

/** By session, or by user, where the app has the empty user id. */
function groupByOwner(rows: readonly StateRow[]): Map<number | string | null, StateRow[]> {
  const groups = new Map<number | string | null, StateRow[]>();
  for (const row of rows) {
    const owner = row.user_id ?? row.session_pk;
    const group = groups.get(owner);
    if (group) group.push(row);
    else groups.set(owner, [row]);
  }
  return groups;
}

function entriesOf(rows: readonly StateRow[] = []): StateEntries {
  return rows.map(({ name, value }) => [name, value] as const);
}
