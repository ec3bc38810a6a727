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
import { LastQueries } from '../sql/last-queries.js';
import { joinSql, NO_SQL, sql, type Sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { selectState, type StateRow, stateOf } from '../state/read-state.js';

export async function readSession(
  transaction: SqlTransaction,
  request: ReadRequest,
): Promise<StoredSession | undefined> {
  const session = await findLiveSession(transaction, request.key, request.withMetadata ? METADATA_COLUMN : undefined);
  if (!session) return undefined;
  const { summarySeq } = session.record.marks;
  const last = new LastQueries(transaction);
  const summary =
    request.withSummary && summarySeq > 0
      ? await addEvents(last, transaction, session, { ranges: [{ from: summarySeq, to: summarySeq }] })
      : noEvents;
  const events = request.window ? await addEvents(last, transaction, session, request.window) : noEvents;
  const { find, checkpointAt } = request;
  const states = request.withState ? last.add<StateRow>(selectState(transaction, session)) : undefined;
  const bases = request.withBase ? last.add<BaseRow>(selectBaseState(transaction, session)) : undefined;
  const checkpoints =
    checkpointAt === undefined
      ? undefined
      : last.add<CheckpointRow>(selectCheckpoint(transaction, session, checkpointAt));
  const groups = find && last.add<GroupRow>(selectInGroup(transaction, session, find));
  await last.run();
  const [summaryEvent] = summary();
  return {
    record: session.record,
    now: transaction.now,
    events: events(),
    ...(states && stateOf(states())),
    ...(summaryEvent && { summary: summaryEvent }),
    ...(request.withMetadata && { metadata: session.metadata ?? '' }),
    ...(bases && { baseState: bases()[0]?.base_state ?? '{}' }),
    ...(checkpoints && checkpointOf(checkpoints())),
    ...(groups && { found: foundIn(groups()) }),
  };
}

interface BaseRow {
  readonly base_state: string;
}

function selectBaseState({ tables }: SqlTransaction, { pk }: FoundSession): Sql {
  return sql`SELECT base_state FROM ${tables.sessions} WHERE pk = ${pk}`;
}

interface CheckpointRow {
  readonly seq: number;
  readonly content: string;
}

function selectCheckpoint({ tables }: SqlTransaction, { pk }: FoundSession, upTo: number): Sql {
  return sql`
    SELECT seq, content FROM ${tables.checkpoints}
    WHERE session_pk = ${pk} AND seq <= ${upTo} ORDER BY seq DESC LIMIT 1`;
}

function checkpointOf([row]: readonly CheckpointRow[]): Pick<StoredSession, 'checkpoint'> {
  return row ? { checkpoint: { seq: row.seq, text: row.content } } : {};
}

interface GroupRow {
  readonly found: number | null;
  readonly ungrouped: number | null;
}

function selectInGroup(
  { tables: { events } }: SqlTransaction,
  { pk, record }: FoundSession,
  { group, direction, from }: GroupSearch,
): Sql {
  const [compared, order] = direction === 'next' ? [sql`>=`, sql`ASC`] : [sql`<=`, sql`DESC`];
  return sql`
    SELECT (
      SELECT seq FROM ${events} WHERE session_pk = ${pk} AND event_group = ${group} AND seq ${compared} ${from}
      ORDER BY seq ${order} LIMIT 1
    ) AS found, (
      SELECT seq FROM ${events} WHERE session_pk = ${pk} AND event_group IS NULL AND seq >= ${record.firstSeq}
      ORDER BY seq LIMIT 1
    ) AS ungrouped`;
}

/** Rows of older versions have no group; then only the log can tell. */
function foundIn([row]: readonly GroupRow[]): number | undefined {
  return row?.ungrouped ? undefined : (row?.found ?? 0);
}

/** A session with more rewinds takes several statements. */
const RANGES_PER_STATEMENT = 100;

const noEvents = (): readonly StoredEvent[] => [];

/** Reads the events of a window in ascending order, with the last queries if one statement is enough. */
async function addEvents(
  last: LastQueries,
  transaction: SqlTransaction,
  session: FoundSession,
  window: EventWindow,
): Promise<() => readonly StoredEvent[]> {
  const isNewestFirst = window.keep !== 'oldest';
  const limit = window.limit ?? Infinity;
  const ranges = limitRanges(rangesOf(window, session), window, limit);
  if (isNewestFirst) ranges.reverse();
  if (ranges.length === 0) return noEvents;
  const ascending = (rows: readonly EventRow[]): StoredEvent[] => {
    const events = rows.map(storedEventOf);
    return isNewestFirst ? events.toReversed() : events;
  };
  if (ranges.length <= RANGES_PER_STATEMENT) {
    const rows = last.add<EventRow>(selectEvents(transaction, session.pk, ranges, { window, limit }));
    return () => ascending(rows());
  }
  const found: EventRow[] = [];
  for (let start = 0; start < ranges.length && found.length < limit; start += RANGES_PER_STATEMENT) {
    const some = ranges.slice(start, start + RANGES_PER_STATEMENT);
    found.push(
      ...(await transaction.rows<EventRow>(
        selectEvents(transaction, session.pk, some, { window, limit: limit - found.length }),
      )),
    );
  }
  return () => ascending(found);
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
