import type { StoredEvent } from '../../domain/commit.js';
import { type SeqRange, newestOf, oldestOf } from '../../domain/seq-ranges.js';
import type { EventWindow } from '../session-storage.js';
import type { FoundSession } from './session-lookup.js';
import { EVENT_COLUMNS, type EventRow, storedEventOf } from './session-rows.js';
import { NO_SQL, type Sql, joinSql, sql } from './sql.js';
import type { SqlTransaction } from './sql-transaction.js';

/** Stretches asked for in one statement; a session that was rewound more often than this takes another one. */
const RANGES_A_STATEMENT = 100;

/** The events of a window, in ascending order. */
export async function readEvents(
  transaction: SqlTransaction,
  session: FoundSession,
  window: EventWindow,
): Promise<StoredEvent[]> {
  const isNewestFirst = window.keep !== 'oldest';
  const limit = window.limit ?? Infinity;
  const ranges = withinLimit(rangesOf(window, session), window, limit);
  if (isNewestFirst) ranges.reverse();
  const found: StoredEvent[] = [];
  for (let start = 0; start < ranges.length && found.length < limit; start += RANGES_A_STATEMENT) {
    const some = ranges.slice(start, start + RANGES_A_STATEMENT);
    const rows = await transaction.rows<EventRow>(
      eventsIn(transaction, session.pk, some, { window, limit: limit - found.length }),
    );
    found.push(...rows.map(storedEventOf));
  }
  return isNewestFirst ? found.toReversed() : found;
}

/** The stretches that a window wants, as far as the session has them. */
function rangesOf(window: EventWindow, { record }: FoundSession): SeqRange[] {
  const first = Math.max(record.firstSeq, (window.afterSeq ?? 0) + 1, window.inView ? record.marks.viewFromSeq + 1 : 1);
  const wanted = window.ranges ?? [{ from: first, to: record.lastSeq }];
  return wanted
    .map(({ from, to }) => ({ from: Math.max(from, first), to: Math.min(to, record.lastSeq) }))
    .filter(({ from, to }) => from <= to);
}

/** The log has no gaps, so where no event is left out, the numbers say how far it is to the limit. */
function withinLimit(
  ranges: SeqRange[],
  { anchorsOnly, since, maxAgeMs, keep }: EventWindow,
  limit: number,
): SeqRange[] {
  if (anchorsOnly || since !== undefined || maxAgeMs !== undefined || limit === Infinity) return ranges;
  return keep === 'oldest' ? oldestOf(ranges, limit) : newestOf(ranges, limit);
}

interface Selection {
  readonly window: EventWindow;
  readonly limit: number;
}

/** One branch for each stretch, so that what lies between them is not even looked at. */
function eventsIn(transaction: SqlTransaction, pk: number, ranges: readonly SeqRange[], selection: Selection): Sql {
  const order = orderOf(selection);
  const stretches = ranges.map(
    ({ from, to }) => sql`
      SELECT ${EVENT_COLUMNS} FROM ${transaction.tables.events}
      WHERE session_pk = ${pk} AND seq BETWEEN ${from} AND ${to}
      ${selection.window.anchorsOnly ? sql`AND anchor = 1` : NO_SQL}
      ${startOfTime(transaction, pk, selection)}
      ${order}`,
  );
  const [only, ...others] = stretches;
  // A single one comes out of the index in order; wrapped up, it would be sorted once more.
  if (only && others.length === 0) return only;
  const branches = stretches.map((stretch) => sql`SELECT * FROM (${stretch}) AS stretch`);
  return sql`${joinSql(branches, ' UNION ALL ')} ${order}`;
}

function orderOf({ window, limit }: Selection): Sql {
  const direction = window.keep === 'oldest' ? sql`ASC` : sql`DESC`;
  return sql`ORDER BY seq ${direction} ${Number.isFinite(limit) ? sql`LIMIT ${limit}` : NO_SQL}`;
}

/** High water never falls along the log, so the first event that reaches the time begins the window. */
function startOfTime({ tables, now }: SqlTransaction, pk: number, { window }: Selection): Sql {
  const { since = 0, maxAgeMs } = window;
  const start = Math.ceil(Math.max(since, maxAgeMs === undefined ? 0 : now - maxAgeMs));
  if (start <= 0) return NO_SQL;
  return sql`AND seq >= (
        SELECT seq FROM ${tables.events} WHERE session_pk = ${pk} AND high_water >= ${start}
        ORDER BY high_water, seq LIMIT 1
      )`;
}
