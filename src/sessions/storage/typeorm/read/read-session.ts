import type { StoredEvent } from '../../../domain/commit.js';
import type { GroupSearch } from '../../../domain/event-group.js';
import { newestOf, oldestOf, type SeqRange } from '../../../domain/seq-ranges.js';
import type { EventWindow, ReadRequest, StoredSession } from '../../session-storage.js';
import {
  EVENT_COLUMNS,
  type EventRow,
  findLiveSession,
  type FoundSession,
  METADATA_COLUMN,
  storedEventOf,
} from '../sql/session-rows.js';
import { joinSql, NO_SQL, sql, type Sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { readState } from '../state/read-state.js';

export async function readSession(
  transaction: SqlTransaction,
  request: ReadRequest,
): Promise<StoredSession | undefined> {
  const session = await findLiveSession(transaction, request.key, request.withMetadata ? METADATA_COLUMN : undefined);
  if (!session) return undefined;
  const { summarySeq } = session.record.marks;
  const [summary] =
    request.withSummary && summarySeq > 0
      ? await readEvents(transaction, session, { ranges: [{ from: summarySeq, to: summarySeq }] })
      : [];
  return {
    record: session.record,
    now: transaction.now,
    events: request.window ? await readEvents(transaction, session, request.window) : [],
    ...(request.withState && (await readState(transaction, session))),
    ...(summary && { summary }),
    ...(request.withMetadata && { metadata: session.metadata ?? '' }),
    ...(request.withBase && { baseState: await readBaseState(transaction, session) }),
    ...(request.checkpointAt !== undefined && (await readCheckpoint(transaction, session, request.checkpointAt))),
    ...(request.find && { found: await findInGroup(transaction, session, request.find) }),
  };
}

async function readBaseState(transaction: SqlTransaction, { pk }: FoundSession): Promise<string> {
  const rows = await transaction.rows<{ base_state: string }>(
    sql`SELECT base_state FROM ${transaction.tables.sessions} WHERE pk = ${pk}`,
  );
  return rows[0]?.base_state ?? '{}';
}

async function readCheckpoint(
  transaction: SqlTransaction,
  { pk }: FoundSession,
  upTo: number,
): Promise<Pick<StoredSession, 'checkpoint'>> {
  const [row] = await transaction.rows<{ seq: number; content: string }>(sql`
    SELECT seq, content FROM ${transaction.tables.checkpoints}
    WHERE session_pk = ${pk} AND seq <= ${upTo} ORDER BY seq DESC LIMIT 1`);
  return row ? { checkpoint: { seq: row.seq, text: row.content } } : {};
}

/** Rows of older versions have no group; then only the log can tell. */
async function findInGroup(
  transaction: SqlTransaction,
  { pk, record }: FoundSession,
  { group, direction, from }: GroupSearch,
): Promise<number | undefined> {
  const { events } = transaction.tables;
  const [compared, order] = direction === 'next' ? [sql`>=`, sql`ASC`] : [sql`<=`, sql`DESC`];
  const [row] = await transaction.rows<{ found: number | null; ungrouped: number | null }>(sql`
    SELECT (
      SELECT seq FROM ${events} WHERE session_pk = ${pk} AND event_group = ${group} AND seq ${compared} ${from}
      ORDER BY seq ${order} LIMIT 1
    ) AS found, (
      SELECT seq FROM ${events} WHERE session_pk = ${pk} AND event_group IS NULL AND seq >= ${record.firstSeq}
      ORDER BY seq LIMIT 1
    ) AS ungrouped`);
  return row?.ungrouped ? undefined : (row?.found ?? 0);
}

/** A session with more rewinds takes several statements. */
const RANGES_PER_STATEMENT = 100;

/** Reads the events of a window in ascending order. */
async function readEvents(
  transaction: SqlTransaction,
  session: FoundSession,
  window: EventWindow,
): Promise<StoredEvent[]> {
  const isNewestFirst = window.keep !== 'oldest';
  const limit = window.limit ?? Infinity;
  const ranges = limitRanges(rangesOf(window, session), window, limit);
  if (isNewestFirst) ranges.reverse();
  const found: StoredEvent[] = [];
  for (let start = 0; start < ranges.length && found.length < limit; start += RANGES_PER_STATEMENT) {
    const some = ranges.slice(start, start + RANGES_PER_STATEMENT);
    const rows = await transaction.rows<EventRow>(
      selectEvents(transaction, session.pk, some, { window, limit: limit - found.length }),
    );
    found.push(...rows.map(storedEventOf));
  }
  return isNewestFirst ? found.toReversed() : found;
}

/** The ranges of a window that the session has. */
function rangesOf(window: EventWindow, { record }: FoundSession): SeqRange[] {
  const first = Math.max(record.firstSeq, (window.afterSeq ?? 0) + 1, window.inView ? record.marks.viewFromSeq + 1 : 1);
  const wanted = window.ranges ?? [{ from: first, to: record.lastSeq }];
  return wanted
    .map(({ from, to }) => ({ from: Math.max(from, first), to: Math.min(to, record.lastSeq) }))
    .filter(({ from, to }) => from <= to);
}

/** The log has no gaps, so without a filter the limit can narrow the ranges. */
function limitRanges(
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

/** One branch for each range, so that the database does not scan the gaps between them. */
function selectEvents(transaction: SqlTransaction, pk: number, ranges: readonly SeqRange[], selection: Selection): Sql {
  const order = orderOf(selection);
  const branches = ranges.map(
    ({ from, to }) => sql`
      SELECT ${EVENT_COLUMNS} FROM ${transaction.tables.events}
      WHERE session_pk = ${pk} AND seq BETWEEN ${from} AND ${to}
      ${selection.window.anchorsOnly ? sql`AND anchor = 1` : NO_SQL}
      ${fromStartTime(transaction, pk, selection)}
      ${order}`,
  );
  const [only, ...others] = branches;
  // A single range comes from the index in order. In a subquery it would be sorted again.
  if (only && others.length === 0) return only;
  const subqueries = branches.map((branch) => sql`SELECT * FROM (${branch}) AS branch`);
  return sql`${joinSql(subqueries, ' UNION ALL ')} ${order}`;
}

function orderOf({ window, limit }: Selection): Sql {
  const direction = window.keep === 'oldest' ? sql`ASC` : sql`DESC`;
  return sql`ORDER BY seq ${direction} ${Number.isFinite(limit) ? sql`LIMIT ${limit}` : NO_SQL}`;
}

/** `high_water` never decreases along the log, so the first event that reaches the start time begins the window. */
function fromStartTime({ tables, now }: SqlTransaction, pk: number, { window }: Selection): Sql {
  const { since = 0, maxAgeMs } = window;
  const start = Math.ceil(Math.max(since, maxAgeMs === undefined ? 0 : now - maxAgeMs));
  if (start <= 0) return NO_SQL;
  return sql`AND seq >= (
        SELECT seq FROM ${tables.events} WHERE session_pk = ${pk} AND high_water >= ${start}
        ORDER BY high_water, seq LIMIT 1
      )`;
}
