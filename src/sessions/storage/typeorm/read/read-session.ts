import type { GroupSearch } from '../../../domain/event/event-group.js';
import { newestOf, oldestOf, type SeqRange } from '../../../domain/values/seq-ranges.js';
import type { EventWindow, ReadRequest, StoredSession } from '../../session-storage.js';
import type { StampedSession } from '../../session-store.js';
import {
  eventLines,
  type EventLinesRow,
  eventOfLines,
  findLiveSession,
  type FoundSession,
  METADATA_COLUMN,
} from '../sql/session-rows.js';
import { boundedWindow, isOver, outermostFitting } from './event-window.js';
import { isReadAtOnce, readAtOnce } from './read-at-once.js';
import { windowStart } from './window-start.js';
import { LastQueries } from '../sql/last-queries.js';
import { joinSql, NO_SQL, type Sql, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { selectState, type StateRow, parseStateRows } from '../state/read-state.js';

export function readSession(transaction: SqlTransaction, request: ReadRequest): Promise<StampedSession | undefined> {
  const { readsAtOnce } = transaction.dialect;
  return readsAtOnce && isReadAtOnce(request) ? readAtOnce(transaction, request) : readInSteps(transaction, request);
}

/** Reads the record, which says what else to read. */
async function readInSteps(transaction: SqlTransaction, request: ReadRequest): Promise<StampedSession | undefined> {
  const session = await findLiveSession(transaction, request.key, [
    ...(request.withMetadata ? [METADATA_COLUMN] : []),
    ...windowStart(transaction, request),
  ]);
  if (!session) return undefined;
  const { summarySeq } = session.record.marks;
  const last = new LastQueries(transaction);
  const summary =
    request.withSummary && summarySeq > 0
      ? await addEvents(last, transaction, session, { ranges: [{ from: summarySeq, to: summarySeq }] })
      : noEvents;
  const { window } = request;
  const afterSeq = Math.max(window?.afterSeq ?? 0, session.windowStart ?? 0);
  const events = window ? await addEvents(last, transaction, session, { ...window, afterSeq }) : noEvents;
  const { find, checkpointAt } = request;
  const states = request.withState
    ? last.add<StateRow>(selectState(transaction, session, request.maxStateBytes))
    : undefined;
  const bases = request.withBase ? last.add<BaseRow>(selectBaseState(transaction, session)) : undefined;
  const checkpoints =
    checkpointAt === undefined
      ? undefined
      : last.add<CheckpointRow>(selectCheckpoint(transaction, session, checkpointAt));
  const groups = find && last.add<{ seq: number }>(selectInGroup(transaction, session, find));
  await last.run();
  const [summaryEvent] = summary().events;
  const found: StoredSession = {
    record: session.record,
    now: transaction.now,
    ...events(),
    ...(states && parseStateRows(states(), session.record, { limits: request.maxStateBytes, text: session.state })),
    ...(summaryEvent && { summary: summaryEvent }),
    ...(request.withMetadata && { metadata: session.metadata ?? '' }),
    ...(bases && { baseState: bases()[0]?.base_state ?? '{}' }),
    ...(checkpoints && checkpointOf(checkpoints())),
    ...(groups && { found: groups()[0]?.seq ?? 0 }),
  };
  return { session: found, stamp: session.stamp, stateText: session.state };
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

function selectInGroup(
  { tables: { events } }: SqlTransaction,
  { pk, record }: FoundSession,
  { group, direction, from }: GroupSearch,
): Sql {
  const [compared, order] = direction === 'next' ? [sql`>=`, sql`ASC`] : [sql`<=`, sql`DESC`];
  // Numbers of events have a smaller type than any that can be asked for.
  const place = Math.min(from, record.lastSeq + 1);
  return sql`
    SELECT seq FROM ${events} WHERE session_pk = ${pk} AND event_group = ${group} AND seq ${compared} ${place}
    ORDER BY seq ${order} LIMIT 1`;
}

/** A session with more rewinds takes several statements. */
const RANGES_PER_STATEMENT = 100;

type ReadEvents = Pick<StoredSession, 'events' | 'isCut'>;

const noEvents = (): ReadEvents => ({ events: [] });

/** Reads the events of a window in ascending order, with the last queries if one statement is enough. */
async function addEvents(
  last: LastQueries,
  transaction: SqlTransaction,
  session: FoundSession,
  wanted: EventWindow,
): Promise<() => ReadEvents> {
  const window = boundedWindow(wanted);
  const isNewestFirst = window.keep !== 'oldest';
  const { limit = Infinity } = window;
  const ranges = limitRanges(findWindowRanges(window, session), window, limit);
  if (isNewestFirst) ranges.reverse();
  if (ranges.length === 0) return noEvents;
  const ascending = (rows: readonly EventLinesRow[]): ReadEvents => {
    const events = rows.map(eventOfLines);
    if (isNewestFirst) events.reverse();
    const isCut = (wanted.limit !== limit && rows.length === limit) || isOver(events, window.maxBytes);
    return { events, ...(isCut && { isCut }) };
  };
  if (ranges.length <= RANGES_PER_STATEMENT) {
    const rows = last.add<EventLinesRow>(selectEvents(transaction, session.pk, ranges, { window, limit }));
    return () => ascending(rows());
  }
  const found: EventLinesRow[] = [];
  for (let start = 0; start < ranges.length && found.length < limit; start += RANGES_PER_STATEMENT) {
    const some = ranges.slice(start, start + RANGES_PER_STATEMENT);
    found.push(
      ...(await transaction.rows<EventLinesRow>(
        selectEvents(transaction, session.pk, some, { window, limit: limit - found.length }),
      )),
    );
  }
  return () => ascending(found);
}

/** The ranges of a window that the session has. */
function findWindowRanges(window: EventWindow, { record }: FoundSession): SeqRange[] {
  const first = Math.max(record.firstSeq, (window.afterSeq ?? 0) + 1, window.inView ? record.marks.viewFromSeq + 1 : 1);
  const wanted = window.ranges ?? [{ from: first, to: record.lastSeq }];
  return wanted
    .map(({ from, to }) => ({ from: Math.max(from, first), to: Math.min(to, record.lastSeq) }))
    .filter(({ from, to }) => from <= to);
}

/** The log has no gaps, so without a filter the limit can narrow the ranges. */
function limitRanges(ranges: SeqRange[], { anchorsOnly, keep }: EventWindow, limit: number): SeqRange[] {
  if (anchorsOnly || limit === Infinity) return ranges;
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
      SELECT ${eventLines(transaction.dialect)} FROM ${transaction.tables.events}
      WHERE session_pk = ${pk} AND seq BETWEEN ${from} AND ${to}
      ${selection.window.anchorsOnly ? sql`AND anchor = 1` : NO_SQL}
      ${withinBytes(transaction, pk, { from, to }, selection)}
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

/** Ends the window at the first event with which the payloads have too many bytes. */
function withinBytes(
  transaction: SqlTransaction,
  pk: number,
  { from, to }: SeqRange,
  { window, limit }: Selection,
): Sql {
  const { maxBytes, keep } = window;
  if (maxBytes === undefined) return NO_SQL;
  const range = sql`session_pk = ${pk} AND seq BETWEEN ${from} AND ${to}`;
  const compared = keep === 'oldest' ? sql`<=` : sql`>=`;
  return sql`AND seq ${compared} (${outermostFitting(transaction, { range, limit, maxBytes, keep })})`;
}
