import { comparePositions } from '../../list-order.js';
import type { ListPosition, ListRequest } from '../../session-storage.js';
import { minuteOf } from '../sql/minutes.js';
import { NO_SQL, Sql, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { afterPosition, inOrder, ofOwner } from './list-order.js';

const SESSION = new Sql('s');
const TIME = new Sql('s.last_update_time');
const MINUTE = new Sql('s.update_minute');

/** Where a session is in a list. */
export interface PositionRow {
  readonly pk: number;
  readonly time: number;
  readonly user_id: string;
  readonly session_id: string;
}

/**
 * Reads a page in the order of the last update. The index knows only its minute, so sessions of the same minute are put in order here.
 * If the page ends within a minute, the database puts the sessions of that minute in order.
 *
 * @param read reads sessions; `range` follows what is selected from `s`, and `isOrdered` says that the database has to put them in order
 */
export async function rowsByUpdate<Row>(
  transaction: SqlTransaction,
  request: ListRequest,
  positionOf: (row: Row) => ListPosition,
  read: (range: Sql, isOrdered: boolean) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const { limit, offset = 0 } = request;
  const end = offset + limit;
  const { sessions } = transaction.tables;
  const source = sql`FROM ${sessions} s WHERE ${afterCursor(request)} AND s.expires_at > ${transaction.time}`;
  const range = sql`${source} ${inOrder(request, SESSION, MINUTE)} LIMIT ${end + 1}`;
  const found = (await read(range, false)).map((row) => ({ row, position: positionOf(row) }));
  const next = found[end];
  if (!next) return inExactOrder(found, request, end);
  const cut = minuteOf(next.position.time);
  const whole = found.filter(({ position }) => minuteOf(position.time) !== cut);
  const ofMinute = sql`${source} AND ${MINUTE} = ${cut} ${inOrder(request, SESSION, TIME)} LIMIT ${end - whole.length}`;
  const others = whole.length < end ? await read(ofMinute, true) : [];
  return inExactOrder([...whole, ...others.map((row) => ({ row, position: positionOf(row) }))], request, end);
}

interface Placed<Row> {
  readonly row: Row;
  readonly position: ListPosition;
}

function inExactOrder<Row>(rows: readonly Placed<Row>[], request: ListRequest, end: number): Row[] {
  const ordered = rows.toSorted((a, b) => comparePositions(a.position, b.position, request));
  return ordered.slice(request.offset ?? 0, end).map(({ row }) => row);
}

interface MinuteRow {
  readonly minute: number;
}

/** Of a row with the columns of {@link PositionRow}. */
export function positionOfRow({ time, user_id: userId, session_id: sessionId }: PositionRow): ListPosition {
  return { time, userId, sessionId };
}

/** A statement that selects the first sessions in this order, live or not, and has no limit yet. It goes through their minutes only. */
export async function firstByUpdate(
  transaction: SqlTransaction,
  request: ListRequest,
  columns: Sql,
  count: number,
): Promise<Sql> {
  const source = sql`FROM ${transaction.tables.sessions} s WHERE ${afterCursor(request)}`;
  const [last] = await transaction.rows<MinuteRow>(
    sql`SELECT ${MINUTE} AS minute ${source} ${inOrder(request, SESSION, MINUTE)} LIMIT 1 OFFSET ${count - 1}`,
  );
  const beyond = request.order === 'asc' ? sql`<=` : sql`>=`;
  const toMinute = last ? sql`AND ${MINUTE} ${beyond} ${last.minute}` : NO_SQL;
  return sql`SELECT ${columns} ${source} ${toMinute} ${inOrder(request, SESSION, TIME)}`;
}

/** Matches sessions that follow the cursor. Their minutes are where the index begins. */
function afterCursor(request: ListRequest): Sql {
  const { after, order } = request;
  const beyond = order === 'asc' ? sql`>=` : sql`<=`;
  const fromMinute = after ? sql`AND ${MINUTE} ${beyond} ${minuteOf(after.time)}` : NO_SQL;
  return sql`${ofOwner(request, SESSION)} ${fromMinute} ${afterPosition(request, SESSION, TIME)}`;
}
