import { isRewind } from '../domain/event-inspection.js';
import type { LoggedEvent } from '../domain/event.js';
import { sessionKeyOf } from '../domain/ids.js';
import { beginningBefore } from '../domain/log-replay.js';
import type { SeqRange } from '../domain/seq-ranges.js';
import type { SessionRecord } from '../domain/session-record.js';
import { StateFold } from '../domain/state-fold.js';
import { CallSearch, callsMissingIn } from '../domain/tool-pairs.js';
import { loggedEvent } from '../domain/logged-event.js';
import { isFiltering } from '../domain/view.js';
import { rangesAbove, rangesBelow, visibleRanges } from '../domain/visible-log.js';
import { type SessionEnvironment, appendFilter } from '../session-environment.js';
import { readLog } from './log-reading.js';
import { readView } from './view-reading.js';

/** History is trimmed once in so many events, so that an append hardly ever pays for it. */
const TRIM_EVERY = 64;
/** And never more than this at once. */
const TRIM_AT_MOST = 1_000;

/**
 * Where history is not kept: removes what left the view, oldest first, folding its state changes into the
 * session's base state. Nothing that a summary in force stands for is removed, no call of a tool whose
 * answer is in the view, and no place that a rewind goes to as long as the rewind itself is kept.
 */
export function trimHistory(env: SessionEnvironment, record: SessionRecord): Promise<void> | undefined {
  const isDue = !env.history.keepHistory && isFiltering(appendFilter(env)) && record.lastSeq % TRIM_EVERY === 0;
  return isDue ? trim(env, record) : undefined;
}

async function trim(env: SessionEnvironment, appended: SessionRecord): Promise<void> {
  const key = sessionKeyOf(appended);
  const read = await readView(env.storage, key, appendFilter(env));
  if (!read || read.stored.record.incarnation !== appended.incarnation) return;
  const { record } = read.stored;
  const summary = read.stored.summary && loggedEvent(read.stored.summary);
  const view = read.view.map(({ event }) => event);
  const needed = [...view, ...(summary ? [summary] : [])].map(firstSeqNeededFor);
  const viewFrom = Math.min(...needed, record.lastSeq + 1);
  const call = await firstCallFor(env, view, record, viewFrom);
  const wanted = call ?? viewFrom;
  if (wanted <= record.firstSeq) return;
  const beginning = beginningBefore(wanted, await rewindsIn(env, record, wanted));
  const newFirstSeq = Math.min(beginning, record.firstSeq + TRIM_AT_MOST);
  if (newFirstSeq <= record.firstSeq) return;
  await env.storage.trim({
    key,
    incarnation: record.incarnation,
    firstSeq: record.firstSeq,
    marksSeq: record.marksSeq,
    newFirstSeq,
    baseState: await baseStateUpTo(env, record, newFirstSeq),
  });
}

/** A summary needs the events that it stands for, so that a rewind can bring them back. */
function firstSeqNeededFor({ seq, actions }: LoggedEvent): number {
  return actions.compaction ? Math.min(seq, actions.compaction.fromSeq) : seq;
}

/** Where the oldest call is that answers in the view belong to, if it lies before the view. */
async function firstCallFor(
  env: SessionEnvironment,
  view: readonly LoggedEvent[],
  record: SessionRecord,
  viewFrom: number,
): Promise<number | undefined> {
  const missing = callsMissingIn(view);
  if (missing.size === 0) return undefined;
  const search = new CallSearch(missing);
  for await (const event of eventsIn(env, record, rangesBelow(visibleRanges(record), viewFrom))) search.add(event);
  return search.firstSeq;
}

/** Rewinds are in no view: they lie in hidden stretches, or where a summary stands for them. */
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

async function baseStateUpTo(env: SessionEnvironment, record: SessionRecord, newFirstSeq: number): Promise<string> {
  const read = await env.storage.read({ key: sessionKeyOf(record), withBase: true });
  const fold = new StateFold(read?.baseState ?? '{}');
  for await (const stored of readLog(env.storage, record, { from: record.firstSeq, to: newFirstSeq - 1 })) {
    fold.add(loggedEvent(stored));
  }
  return JSON.stringify(fold.toRecord());
}
