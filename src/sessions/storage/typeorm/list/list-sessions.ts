import { sessionKeyOf } from '../../../domain/ids.js';
import type { IndexEntry } from '../../../domain/metadata-entries.js';
import type { ListFilter, ListPosition, ListRequest, ListResult } from '../../session-storage.js';
import { afterPosition, inOrder, ofOwner } from './list-order.js';
import { firstByUpdate, type PositionRow, rowsByUpdate } from './update-order.js';
import { METADATA_COLUMN, listedRecordOf, recordLines } from '../sql/session-rows.js';
import { joinSql, NO_SQL, Sql, sql, sqlList } from '../sql/sql.js';
import { LastQueries } from '../sql/last-queries.js';
import type { SqlTransaction } from '../sql/transaction.js';
import {
  type FoundRow,
  type StateRow,
  expectOwnStates,
  keyList,
  rowsWithState,
  selectStates,
  withoutState,
} from './listed-states.js';

/** Sessions whose state is read without knowing its size. */
const FEW = 32;

/** Reads a page of sessions with the sizes of their states, then with COMMIT the states of those that fit. */
export async function listSessions(transaction: SqlTransaction, request: ListRequest): Promise<ListResult> {
  const { rows: found, examinedTo } = await pageOf(transaction, request);
  const rows = fittingRows(found, request.maxBytes);
  const hasState = rows.length > 0 && request.withState !== false;
  if (hasState) await expectOwnStates(transaction, rows, request.maxStateBytes);
  const last = new LastQueries(transaction);
  const states = hasState ? last.add<StateRow>(selectStates(transaction, rows, request.maxStateBytes)) : undefined;
  const counts = request.withTotal ? last.add<{ total: number }>(selectCount(transaction, request)) : undefined;
  await last.run();
  const damaged = rows.filter(({ isDamaged }) => isDamaged).map(({ record }) => sessionKeyOf(record));
  return {
    sessions: states ? rowsWithState(rows, states(), request) : rows.map(withoutState),
    ...(damaged.length > 0 && { damaged }),
    ...(counts && { total: counts()[0]?.total ?? 0 }),
    ...(rows.length < found.length ? { isCut: true } : examinedTo && { examinedTo }),
  };
}

function fittingRows(rows: readonly FoundRow[], maxBytes = Infinity): readonly FoundRow[] {
  let bytes = 0;
  const count = rows.findIndex(({ stateBytes, metadata }, index) => {
    bytes += stateBytes + metadata.length;
    return index > 0 && bytes > maxBytes;
  });
  return count < 0 ? rows : rows.slice(0, count);
}

async function pageOf(transaction: SqlTransaction, request: ListRequest): Promise<FilteredPage> {
  const { filter, orderBy, offset } = request;
  if (filter) return filteredPage(transaction, { ...request, filter });
  if (orderBy === 'createTime') {
    return { rows: (await transaction.rows<ListedRow>(pageOfSessions(transaction, request))).map(foundRow) };
  }
  if (offset) {
    const found = await rowsByUpdate<PositionRow>(transaction, request, sql`s.pk, ${POSITION}`);
    return { rows: await rowsOf(transaction, request, found) };
  }
  const columns = sql`${pageColumns(transaction, request)}, ${POSITION}`;
  return { rows: (await rowsByUpdate<ListedRow & PositionRow>(transaction, request, columns)).map(foundRow) };
}

/** A row of {@link pageColumns}. */
interface ListedRow {
  readonly record: string;
  readonly metadata: string;
  readonly state_bytes?: number;
}

function foundRow({ record: lines, metadata, state_bytes: stateBytes = 0 }: ListedRow): FoundRow {
  const { record, isDamaged } = listedRecordOf(lines);
  return { pk: Number(record.incarnation), record, isDamaged, metadata, stateBytes };
}

function listedSessions(request: ListRequest, now: number): Sql {
  return sql`${ofOwner(request, new Sql('s'))} AND s.expires_at > ${now}`;
}

const POSITION = new Sql('s.last_update_time AS time, s.user_id, s.session_id');

/** The columns of a page. Of a few sessions, the size of the state does not matter. */
function pageColumns(transaction: SqlTransaction, request: ListRequest): Sql {
  const { withState = true, limit, maxBytes } = request;
  const needsSize = withState && maxBytes !== undefined && limit > FEW;
  const columns = sql`${recordLines(transaction.dialect)} AS record, ${METADATA_COLUMN}`;
  return needsSize ? sql`${columns}, ${stateBytesColumn(transaction, request)}` : columns;
}

function pageOfSessions(transaction: SqlTransaction, request: ListRequest): Sql {
  const { limit, offset } = request;
  const { now, tables } = transaction;
  const [session, time] = [new Sql('s'), new Sql('s.create_time')];
  return sql`
    SELECT ${pageColumns(transaction, request)} FROM ${tables.sessions} s
    WHERE ${listedSessions(request, now)} ${afterPosition(request, session, time)}
    ${inOrder(request, session, time)}
    LIMIT ${limit} ${offset ? sql`OFFSET ${offset}` : NO_SQL}`;
}

function selectCount({ tables, now }: SqlTransaction, request: ListRequest): Sql {
  return sql`SELECT COUNT(*) AS total FROM ${tables.sessions} s WHERE ${listedSessions(request, now)}`;
}

/** The size of the state that a session brings into a list: its own and, in the list of an app, that of its user. */
function stateBytesColumn({ tables, dialect }: SqlTransaction, { userId }: ListRequest): Sql {
  const { sessionState, sharedScopes, sharedState } = tables;
  const bytes = sql`COALESCE(SUM(${dialect.bytesOf(new Sql('v.name'))} + ${dialect.bytesOf(new Sql('v.value'))}), 0)`;
  const own = sql`(SELECT ${bytes} FROM ${sessionState} v WHERE v.session_pk = s.pk)`;
  if (userId !== undefined) return sql`${own} AS state_bytes`;
  return sql`${own} + (
      SELECT ${bytes} FROM ${sharedScopes} c JOIN ${sharedState} v ON v.scope_pk = c.pk
      WHERE c.app_name = s.app_name AND c.user_id = s.user_id
    ) AS state_bytes`;
}

/** A list with a filter. */
export type FilteredRequest = ListRequest & { readonly filter: ListFilter };

export interface FilteredPage {
  readonly rows: readonly FoundRow[];
  readonly examinedTo?: ListPosition | undefined;
}

/** Which sessions to examine. */
interface Examined {
  /** Selects `pk`, `time`, `user_id` and `session_id`, in the order of the list, and has no limit yet. */
  readonly statement: Sql;
  /** Whether these are all sessions that can match. Then the order and the cursor are applied afterwards. */
  readonly isAll: boolean;
}

/**
 * Reads a page of a filtered list. It examines a limited number of sessions, in the order of the list, and keeps those
 * with all entries. The subqueries prevent that a planner joins whole tables.
 */
export async function filteredPage(transaction: SqlTransaction, request: FilteredRequest): Promise<FilteredPage> {
  const { tables, now } = transaction;
  const { limit, filter } = request;
  const rarest = await rarestEntry(transaction, request);
  if (rarest.count === 0) return { rows: [] };
  const examined = await examinedBy(transaction, request, rarest);
  const wanted = filter.entries.filter((entry) => entry !== examined.entry);
  const hasRest =
    wanted.length === 0
      ? NO_SQL
      : sql`AND (
          SELECT COUNT(*) FROM ${tables.sessionIndex} o
          WHERE o.session_pk = x.pk AND o.entry IN (${sqlList(wanted)})
        ) = ${wanted.length}`;
  const found = await transaction.rows<PositionRow>(sql`
    SELECT x.pk, x.time, x.user_id, x.session_id FROM (${examined.statement} LIMIT ${filter.maxExamined}) x
    WHERE (SELECT s.expires_at FROM ${tables.sessions} s WHERE s.pk = x.pk) > ${now} ${hasRest}
      ${examined.isAll ? afterPosition(request, new Sql('x'), new Sql('x.time')) : NO_SQL}
    ${inOrder(request, new Sql('x'), new Sql('x.time'))} LIMIT ${limit}`);
  return {
    rows: await rowsOf(transaction, request, found),
    ...(!examined.isAll && found.length < limit && { examinedTo: await lastExamined(transaction, examined, filter) }),
  };
}

interface Rarest {
  readonly entry: IndexEntry;
  /** Number of sessions with this entry, counted up to one more than may be examined. */
  readonly count: number;
}

/** The entry that the fewest sessions have. */
async function rarestEntry(transaction: SqlTransaction, request: FilteredRequest): Promise<Rarest> {
  const { entries, maxExamined } = request.filter;
  const [only = '', ...others] = entries;
  // A single entry needs no count if the index has the order of the list.
  if (others.length === 0 && request.orderBy === 'createTime') return { entry: only, count: maxExamined };
  const counts = entries.map(
    (entry, place) => sql`
      SELECT ${place} AS place, COUNT(*) AS members
      FROM (SELECT i.entry ${ofEntry(transaction, request, entry)} LIMIT ${maxExamined + 1}) counted`,
  );
  const rows = await transaction.rows<{ place: number; members: number }>(joinSql(counts, ' UNION ALL '));
  const [rarest] = rows.toSorted((a, b) => a.members - b.members);
  return { entry: entries[Number(rarest?.place)] ?? only, count: Number(rarest?.members) };
}

function ofEntry({ tables }: SqlTransaction, request: FilteredRequest, entry: IndexEntry): Sql {
  return sql`FROM ${tables.sessionIndex} i WHERE ${ofOwner(request, new Sql('i'))} AND i.entry = ${entry}`;
}

async function examinedBy(
  transaction: SqlTransaction,
  request: FilteredRequest,
  { entry, count }: Rarest,
): Promise<Examined & { readonly entry?: IndexEntry }> {
  const { sessions } = transaction.tables;
  const { maxExamined } = request.filter;
  if (request.orderBy === 'createTime') {
    const statement = sql`
      SELECT i.session_pk AS pk, i.create_time AS time, i.user_id, i.session_id
      ${ofEntry(transaction, request, entry)} ${afterPosition(request, new Sql('i'), new Sql('i.create_time'))}
      ${inOrder(request, new Sql('i'), new Sql('i.create_time'))}`;
    return { statement, isAll: false, entry };
  }
  if (count <= maxExamined) {
    const statement = sql`
      SELECT i.session_pk AS pk, i.user_id, i.session_id,
        (SELECT u.last_update_time FROM ${sessions} u WHERE u.pk = i.session_pk) AS time
      ${ofEntry(transaction, request, entry)}`;
    return { statement, isAll: true, entry };
  }
  return { statement: await firstByUpdate(transaction, request, sql`s.pk, ${POSITION}`, maxExamined), isAll: false };
}

/** The position at which the examination ended; `undefined` at the end of the list. */
async function lastExamined(
  transaction: SqlTransaction,
  { statement }: Examined,
  { maxExamined }: ListFilter,
): Promise<ListPosition | undefined> {
  const [last] = await transaction.rows<PositionRow>(sql`${statement} LIMIT 1 OFFSET ${maxExamined - 1}`);
  return last && { time: last.time, userId: last.user_id, sessionId: last.session_id };
}

async function rowsOf(
  transaction: SqlTransaction,
  request: ListRequest,
  found: readonly PositionRow[],
): Promise<FoundRow[]> {
  if (found.length === 0) return [];
  const pks = found.map(({ pk }) => pk);
  const rows = await transaction.rows<ListedRow>(sql`
    SELECT ${pageColumns(transaction, request)} FROM ${transaction.tables.sessions} s WHERE s.pk IN (${keyList(pks)})`);
  const byPk = new Map(rows.map(foundRow).map((row) => [row.pk, row]));
  return pks.flatMap((pk) => byPk.get(pk) ?? []);
}
