import { type Entry, isAnchor, isSummary } from './entries.js';
import { type Filter, filterView, isYoung, responsesNeeding, tailOf } from './filter.js';
import type { Narrowing } from './narrowing.js';

/** `seq`, reason and the event that decided. */
export type Explained = readonly [seq: number, reason: string, by: number | undefined];

/** What is explained: the view before any filter, and the one that a reader gets. */
interface Views {
  readonly whole: readonly Entry[];
  readonly shown: readonly Entry[];
}

/** Says of each event of a log why a reader gets it, or not. */
export function explanationOf(
  log: readonly Entry[],
  { whole, shown }: Views,
  filter: Filter,
  narrowing: Narrowing,
  now: number,
): Explained[] {
  const summary = whole.find(isSummary);
  const boundary = summary?.event.actions?.compaction?.toSeq ?? 0;
  const rewound = rewindsOf(log);
  const isLimited = filter.newest > 0 || filter.maxAgeMs > 0;
  const filtered = filterView(whole, filter, now);

  return log.map((entry): Explained => {
    const { seq } = entry;
    const rewind = rewound.get(seq);
    if (rewind !== undefined && seq > boundary) return [seq, 'rewound', rewind];
    if (entry !== summary && (seq <= boundary || isSummary(entry))) return [seq, 'summarised', summary?.seq];
    if (narrowing.numRecentEvents === 0) return [seq, 'notAsked', undefined];
    if (!filtered.includes(entry)) return [seq, ...reasonOut(entry, whole, filter, now)];
    if (!shown.includes(entry)) return [seq, 'notAsked', undefined];
    if (entry === summary) return [seq, 'summary', undefined];
    return isLimited ? [seq, ...reasonIn(entry, { whole, filtered }, filter, now)] : [seq, 'kept', undefined];
  });
}

/** The events that rewinds took back, each with its rewind. */
function rewindsOf(log: readonly Entry[]): ReadonlyMap<number, number> {
  const moments: ReadonlyMap<number, number>[] = [new Map()];
  for (const { seq, event } of log) {
    const toSeq = event.actions?.rewind?.toSeq;
    const then = new Map(moments[toSeq ?? seq - 1]);
    for (let gone = (toSeq ?? seq) + 1; gone <= seq; gone++) then.set(gone, seq);
    moments.push(then);
  }
  return moments.at(-1) ?? new Map();
}

/** The tail of a view, and the part of it from the first anchor on, unless the view goes on from its summary. */
function partsOf(whole: readonly Entry[], filter: Filter, now: number): { tail: Entry[]; wanted: Entry[] } {
  const tail = tailOf(whole, filter, now);
  const summary = whole.find(isSummary);
  const isCut = filter.newest > 0 && tail.length === filter.newest && whole.find((one) => one !== summary) !== tail[0];
  const goesOn = summary && isYoung(summary, filter, now) && !isCut;
  const anchor = goesOn ? -1 : tail.findIndex(isAnchor);
  return { tail, wanted: anchor < 0 ? tail : tail.slice(anchor) };
}

function reasonOut(
  entry: Entry,
  whole: readonly Entry[],
  filter: Filter,
  now: number,
): [reason: string, by: number | undefined] {
  const { tail, wanted } = partsOf(whole, filter, now);
  if (wanted.includes(entry)) return ['unpaired', undefined];
  if (tail.includes(entry)) return ['beforeAnchor', wanted[0]?.seq];
  return [isYoung(entry, filter, now) ? 'overLimit' : 'tooOld', undefined];
}

function reasonIn(
  entry: Entry,
  { whole, filtered }: { readonly whole: readonly Entry[]; readonly filtered: readonly Entry[] },
  filter: Filter,
  now: number,
): [reason: string, by: number | undefined] {
  const { wanted } = partsOf(whole, filter, now);
  if (wanted.includes(entry)) return ['kept', undefined];
  const isBefore = wanted[0] === undefined || entry.seq < wanted[0].seq;
  const responses = responsesNeeding(whole, filtered, wanted[0]);
  const needing = responses.findLast(({ response, call }) =>
    isBefore ? call.seq <= entry.seq && response.seq > entry.seq : call === entry,
  );
  return needing ? ['calledFor', needing.response.seq] : ['anchor', undefined];
}
