import type { IndexEntry } from '../../../domain/metadata-index.js';
import type { ListFilter, ListPosition, ListRequest } from '../../session-storage.js';
import { type ListedRow, METADATA_COLUMN, columnsWith } from '../sql/session-rows.js';
import { NO_SQL, Sql, joinSql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { afterPosition, inOrder, ofOwner } from './list-order.js';

/** A list with a filter. */
export type FilteredRequest = ListRequest & { readonly filter: ListFilter };

export interface FilteredPage {
  readonly rows: readonly ListedRow[];
  readonly examinedTo?: ListPosition | undefined;
}

/** Which sessions to examine. */
interface Examined {
  /** Selects `pk`, `time`, `user_id` and `session_id`, in the order of the list, and has no limit yet. */
  readonly statement: Sql;
  /** Whether these are all that can match: then the order and the cursor are applied afterwards. */
  readonly isAll: boolean;
}

/**
 * Reads a page of a filtered list. It examines a limited number of sessions, in the order of the list, and of these keeps
 * the ones that have all entries. The subqueries are there so that no planner joins whole tables.
 */
export async function filteredPage(transaction: SqlTransaction, request: FilteredRequest): Promise<FilteredPage> {
  const { tables, now } = transaction;
  const { limit, filter } = request;
  const rarest = await rarestEntry(transaction, request);
  if (rarest.count === 0) return { rows: [] };
  const examined = examinedBy(transaction, request, rarest);
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
    rows: await rowsOf(transaction, found),
    ...(!examined.isAll && found.length < limit && { examinedTo: await lastExamined(transaction, examined, filter) }),
  };
}

interface PositionRow {
  readonly pk: number;
  readonly time: number;
  readonly user_id: string;
  readonly session_id: string;
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
  // In the order of the index, a single entry needs no choice.
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

function examinedBy(
  transaction: SqlTransaction,
  request: FilteredRequest,
  { entry, count }: Rarest,
): Examined & { readonly entry?: IndexEntry } {
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
  const statement = sql`
    SELECT s.pk, s.last_update_time AS time, s.user_id, s.session_id FROM ${sessions} s
    WHERE ${ofOwner(request, new Sql('s'))} ${afterPosition(request, new Sql('s'), new Sql('s.last_update_time'))}
    ${inOrder(request, new Sql('s'), new Sql('s.last_update_time'))}`;
  return { statement, isAll: false };
}

/** The position at which the examination ended, unless the list ended before. */
async function lastExamined(
  transaction: SqlTransaction,
  { statement }: Examined,
  { maxExamined }: ListFilter,
): Promise<ListPosition | undefined> {
  const [last] = await transaction.rows<PositionRow>(sql`${statement} LIMIT 1 OFFSET ${maxExamined - 1}`);
  return last && { time: last.time, userId: last.user_id, sessionId: last.session_id };
}

async function rowsOf(transaction: SqlTransaction, found: readonly PositionRow[]): Promise<ListedRow[]> {
  if (found.length === 0) return [];
  const pks = found.map(({ pk }) => pk);
  const rows = await transaction.rows<ListedRow>(sql`
    SELECT ${columnsWith(METADATA_COLUMN)} FROM ${transaction.tables.sessions} s WHERE s.pk IN (${sqlList(pks)})`);
  const byPk = new Map(rows.map((row) => [row.pk, row]));
  return pks.flatMap((pk) => byPk.get(pk) ?? []);
}
