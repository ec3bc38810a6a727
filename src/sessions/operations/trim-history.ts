import { eventDigest } from '../domain/write/event-digest.js';
import { isAnchor, isRewind } from '../domain/event/event-inspection.js';
import type { LoggedEvent } from '../domain/event/event.js';
import { sessionKeyOf, sessionNameOf } from '../domain/values/ids.js';
import { beginningBefore } from '../domain/history/log-replay.js';
import { type SeqRange, isInRanges, newestOf } from '../domain/values/seq-ranges.js';
import type { SessionRecord } from '../domain/stored/session-record.js';
import { StateFold } from '../domain/history/state-history.js';
import { isTrimmed, loggedEvent } from '../domain/stored/stored-json.js';
import { MAX_PULL_BACK, callsIn } from '../domain/view/tool-pairs.js';
import { type ViewFilter, cutView, isFiltering } from '../domain/view/cut-view.js';
import { rangesAbove, rangesBelow } from '../domain/values/seq-ranges.js';
import { visibleRanges } from '../domain/stored/view-marks.js';
import { type SessionEnvironment, appendFilter } from '../session-environment.js';
import type { EventWindow, SessionStorage, TrimRequest } from '../storage/session-storage.js';
import { LogPoints, readLog, undefinedIfTrimmed } from './read-log.js';
import { type ReadView, readView } from './read-view.js';

/** History is trimmed every so many events, so that most appends do not pay for it. */
const TRIM_EVERY = 64;
/** Maximum number of events that one write trims. */
const TRIM_AT_MOST = 1_000;

/**
 * With `keepHistory: false`: removes events that left the view, oldest first. Their digests stay, and their state changes
 * become part of the session's base state. Keeps what a later view or the current summary may need
 * ({@link firstSeqNeeded}), and each place that a rewind goes to, as long as the rewind itself is kept. Of a session one after the other:
 * those that run beside each other would read the same events, and all but one of them would come too late.
 *
 * @param appended the number of events that the last commit added
 */
export function trimHistory(
  env: SessionEnvironment,
  record: SessionRecord,
  appended: number,
): Promise<void> | undefined {
  const isShortened = isFiltering(appendFilter(env)) || record.marks.summarySeq > 0;
  const isDue = !env.history.keepHistory && isShortened && record.lastSeq % TRIM_EVERY < appended;
  if (!isDue) return undefined;
  return env.tasks.name(
    'trims',
    env.trims.run(sessionNameOf(record), record, (latest) => trimAll(env, latest)),
  );
}

async function trimAll(env: SessionEnvironment, appended: SessionRecord): Promise<void> {
  let trimmed = 0;
  for (let to = await trim(env, appended); to > trimmed && !env.shutdown.isRequested; to = await trim(env, appended)) {
    trimmed = to;
  }
}

/** Returns to where it has trimmed; 0 if nothing is left. */
async function trim(env: SessionEnvironment, appended: SessionRecord): Promise<number> {
  const key = sessionKeyOf(appended);
  const filter = appendFilter(env);
  // If only a summary shortens the view, the view begins after the summary, and no events have to be read.
  const read = await readView(env.storage, key, filter, isFiltering(filter) ? {} : { config: { numRecentEvents: 0 } });
  if (!read || read.stored.record.incarnation !== appended.incarnation) return 0;
  const { record } = read.stored;
  const wanted = await firstSeqNeeded(env.storage, read, filter);
  if (wanted <= record.firstSeq) return 0;
  const beginning = beginningBefore(wanted, await rewindsIn(env, record, wanted));
  const newFirstSeq = Math.min(beginning, record.firstSeq + TRIM_AT_MOST);
  if (newFirstSeq <= record.firstSeq) return 0;
  const folded = await foldBefore(newFirstSeq, env, record).catch(undefinedIfTrimmed);
  if (!folded) return 0;
  await env.storage.trim({
    key,
    incarnation: record.incarnation,
    firstSeq: record.firstSeq,
    marksSeq: record.marksSeq,
    newFirstSeq,
    ...folded,
  });
  return newFirstSeq < beginning ? newFirstSeq : 0;
}

/** Rewinds are in hidden or in summarised ranges. */
async function rewindsIn(env: SessionEnvironment, record: SessionRecord, wanted: number): Promise<LoggedEvent[]> {
  const { firstSeq, marks } = record;
  const summarised = wanted <= marks.viewFromSeq ? [{ from: firstSeq, to: marks.viewFromSeq }] : [];
  const ranges = rangesAbove([...summarised, ...marks.hidden], firstSeq - 1);
  const rewinds: LoggedEvent[] = [];
  for await (const event of eventsIn(env, record, ranges)) if (isRewind(event)) rewinds.push(event);
  return rewinds;
}

async function* eventsIn(
  { storage }: SessionEnvironment,
  record: SessionRecord,
  ranges: readonly SeqRange[],
): AsyncGenerator<LoggedEvent> {
  for (const range of ranges) for await (const stored of readLog(storage, record, range)) yield loggedEvent(stored);
}

/** Reads the events to trim, all of them: a checkpoint would have their state, but not their digests. */
async function foldBefore(
  newFirstSeq: number,
  env: SessionEnvironment,
  record: SessionRecord,
): Promise<Pick<TrimRequest, 'digests' | 'baseState'>> {
  const log = new LogPoints(env.storage, record);
  const { state } = await log.startBefore(record.firstSeq - 1);
  const fold = new StateFold(state);
  const digests: string[] = [];
  for await (const stored of log.read({ from: record.firstSeq, to: newFirstSeq - 1 })) {
    const event = loggedEvent(stored);
    fold.add(event);
    digests.push(eventDigest(event));
  }
  return { digests, baseState: JSON.stringify(fold.toRecord()) };
}

/** How many anchors are read, at once and in total, to find the previous summary. */
const ANCHORS_AT_ONCE = 200;
const MOST_ANCHORS = 1_000;

/** The first event that this view, a later view, or a rewind to before the current summary needs. */
async function firstSeqNeeded(storage: SessionStorage, read: ReadView, filter: ViewFilter): Promise<number> {
  const { record, summary } = read.stored;
  const log = new LogReader(storage, record);
  const needed = isFiltering(filter)
    ? [...read.view.map(({ event }) => event.seq), await firstForLaterAnswers(log, read, filter)]
    : visibleRanges(record).map(({ from }) => from);
  needed.push(record.lastSeq + 1);
  if (summary) needed.push(await firstForSummary(log, loggedEvent(summary)));
  return Math.min(...needed);
}

/** If a tool responds later, the view will need its call, and the anchor before the call. */
async function firstForLaterAnswers(log: LogReader, { stored, source }: ReadView, filter: ViewFilter): Promise<number> {
  const { items } = source.conversation;
  const { tailStart } = cutView(source.conversation, filter, stored.now);
  const tailSeq = items[tailStart]?.event.seq ?? stored.record.lastSeq + 1;
  const visible = visibleRanges(stored.record);
  const near = await log.read({ ranges: newestOf(rangesBelow(visible, tailSeq), MAX_PULL_BACK) });
  const call = near.find((event) => callsIn(event).length > 0);
  if (!call) return Infinity;
  const anchors = await log.read({ ranges: rangesBelow(visible, call.seq), anchorsOnly: true, limit: 1 });
  return anchors.at(-1)?.seq ?? call.seq;
}

/**
 * A rewind to before the current summary shows the previous summary and the events since. Events that the previous
 * summary covers are not needed.
 */
async function firstForSummary(log: LogReader, { seq, actions }: LoggedEvent): Promise<number> {
  const { fromSeq, toSeq } = actions.compaction ?? { fromSeq: seq, toSeq: seq };
  if (toSeq < log.record.firstSeq) return seq;
  const previous = await summaryBefore(log, seq);
  const first = previous ? Math.max(fromSeq, (previous.actions.compaction?.toSeq ?? 0) + 1) : fromSeq;
  return Math.min(seq, previous?.seq ?? seq, first);
}

async function summaryBefore(log: LogReader, seq: number): Promise<LoggedEvent | undefined> {
  let to = seq - 1;
  for (let count = 0; count < MOST_ANCHORS && to >= log.record.firstSeq; count += ANCHORS_AT_ONCE) {
    const ranges = [{ from: log.record.firstSeq, to }];
    const anchors = await log.read({ ranges, anchorsOnly: true, limit: ANCHORS_AT_ONCE });
    const summary = anchors.findLast(({ actions }) => actions.compaction);
    if (summary || anchors.length < ANCHORS_AT_ONCE) return summary;
    to = (anchors[0]?.seq ?? 0) - 1;
  }
  return undefined;
}

class LogReader {
  constructor(
    private readonly storage: SessionStorage,
    readonly record: SessionRecord,
  ) {}

  /** Reads the window, newest last. */
  async read(window: EventWindow & Required<Pick<EventWindow, 'ranges'>>): Promise<LoggedEvent[]> {
    const ranges = window.ranges ?? [];
    if (ranges.length === 0) return [];
    const read = await this.storage.read({ key: sessionKeyOf(this.record), window });
    // A store may return more than requested, and events trimmed in the meantime have no payload.
    const stored = read?.events.filter((event) => isInRanges(event.seq, ranges) && !isTrimmed(event)) ?? [];
    const events = stored.map(loggedEvent);
    return window.anchorsOnly ? events.filter(isAnchor) : events;
  }
}
