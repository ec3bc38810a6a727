import { sessionKeyOf } from '../../../domain/values/ids.js';
import type { IndexEntry } from '../../../domain/metadata/metadata-entries.js';
import { positionOf } from '../../list-order.js';
import type { ListFilter, ListPosition, ListRequest, ListResult } from '../../session-storage.js';
import { LastQueries } from '../sql/last-queries.js';
import { hasAllEntries } from '../sql/session-rows.js';
import { joinSql, NO_SQL, Sql, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { afterPosition, inOrder, ofOwner } from './list-order.js';
import { fittingRows, type FoundRow, keyList, pageColumns, readRows } from './listed-rows.js';
import { type StateRow, expectOwnStates, rowsWithState, selectStates, withoutState } from './listed-states.js';
import { firstByUpdate, type PositionRow, positionOfRow, rowsByUpdate } from './update-order.js';

/** Reads a page of sessions with the sizes of their states, then with COMMIT the states of those that fit. */
export async function listSessions(transaction: SqlTransaction, request: ListRequest): Promise<ListResult> {
  const { rows: found, examinedTo } = await readFoundPage(transaction, request);
  const rows = await fittingRows(transaction, found, request);
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

async function readFoundPage(transaction: SqlTransaction, request: ListRequest): Promise<FilteredPage> {
  const { filter, orderBy, offset } = request;
  if (filter) return filteredPage(transaction, { ...request, filter });
  const { sessions } = transaction.tables;
  if (orderBy === 'createTime') return { rows: await readRows(transaction, pageOfSessions(transaction, request)) };
  if (offset) {
    const found = await rowsByUpdate(transaction, request, positionOfRow, (range) =>
      transaction.rows<PositionRow>(sql`SELECT s.pk, ${POSITION} ${range}`),
    );
    return { rows: await readFoundRows(transaction, found) };
  }
  const columns = pageColumns(transaction);
  const placeOf = ({ record }: FoundRow): ListPosition => positionOf(record, request);
  const rows = await rowsByUpdate(transaction, request, placeOf, (range, isOrdered) => {
    // Only keys are put in order, since the columns are many.
    const keyed = sql`SELECT ${columns} FROM (SELECT s.pk ${range}) x JOIN ${sessions} s ON s.pk = x.pk`;
    return readRows(transaction, isOrdered ? keyed : sql`SELECT ${columns} ${range}`);
  });
  return { rows };
}

function listedSessions(request: ListRequest, time: Sql): Sql {
  return sql`${ofOwner(request, new Sql('s'))} AND s.expires_at > ${time}`;
}

const POSITION = new Sql('s.last_update_time AS time, s.user_id, s.session_id');

function pageOfSessions(transaction: SqlTransaction, request: ListRequest): Sql {
  const { limit, offset } = request;
  const { tables } = transaction;
  const [session, time] = [new Sql('s'), new Sql('s.create_time')];
  return sql`
    SELECT ${pageColumns(transaction)} FROM ${tables.sessions} s
    WHERE ${listedSessions(request, transaction.time)} ${afterPosition(request, session, time)}
    ${inOrder(request, session, time)}
    LIMIT ${limit} ${offset ? sql`OFFSET ${offset}` : NO_SQL}`;
}

function selectCount({ tables, time }: SqlTransaction, request: ListRequest): Sql {
  return sql`SELECT COUNT(*) AS total FROM ${tables.sessions} s WHERE ${listedSessions(request, time)}`;
}

/** A list with a filter. */
type FilteredRequest = ListRequest & { readonly filter: ListFilter };

interface FilteredPage {
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
async function filteredPage(transaction: SqlTransaction, request: FilteredRequest): Promise<FilteredPage> {
  const { tables, time } = transaction;
  const { limit, filter } = request;
  const rarest = await rarestEntry(transaction, request);
  if (rarest.count === 0) return { rows: [] };
  const examined = await examinedBy(transaction, request, rarest);
  const wanted = filter.entries.filter((entry) => entry !== examined.entry);
  const hasRest = wanted.length === 0 ? NO_SQL : sql`AND ${hasAllEntries(tables, new Sql('x.pk'), wanted)}`;
  const found = await transaction.rows<PositionRow>(sql`
    SELECT x.pk, x.time, x.user_id, x.session_id FROM (${examined.statement} LIMIT ${filter.maxExamined}) x
    WHERE (SELECT s.expires_at FROM ${tables.sessions} s WHERE s.pk = x.pk) > ${time} ${hasRest}
      ${examined.isAll ? afterPosition(request, new Sql('x'), new Sql('x.time')) : NO_SQL}
    ${inOrder(request, new Sql('x'), new Sql('x.time'))} LIMIT ${limit}`);
  return {
    rows: await readFoundRows(transaction, found),
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

async function readFoundRows(transaction: SqlTransaction, found: readonly PositionRow[]): Promise<FoundRow[]> {
  if (found.length === 0) return [];
  const pks = found.map(({ pk }) => pk);
  const rows = await readRows(
    transaction,
    sql`SELECT ${pageColumns(transaction)} FROM ${transaction.tables.sessions} s WHERE s.pk IN (${keyList(pks)})`,
  );
  const byPk = new Map(rows.map((row) => [row.pk, row]));
  return pks.flatMap((pk) => byPk.get(pk) ?? []);
}
