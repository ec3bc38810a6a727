import { type Entry, type GivenPart, isAnchor, isSummary, partsOf } from './entries.js';

/** How much of a view is shown; 0 switches a setting off. */
export interface Filter {
  readonly newest: number;
  readonly maxAgeMs: number;
  /** What lies before this event was left out before, and is only fetched back. */
  readonly fromSeq?: number | undefined;
}

const PULL_BACK = 20;

/** Age, newest N, tool calls, anchor, summary: what is left of a view. */
export function filterView(view: readonly Entry[], filter: Filter, now: number): Entry[] {
  const { newest, maxAgeMs, fromSeq } = filter;
  if (newest === 0 && maxAgeMs === 0 && fromSeq === undefined) return [...view];
  const summary = view.find(isSummary);
  const events = view.filter((entry) => entry !== summary);
  const tail = tailOf(view, filter, now);
  const before = beforeFirst(events, tail);

  const isUsedUp = fromSeq !== undefined || (newest > 0 && tail.length === newest);
  const head = summary && isYoung(summary, filter, now) ? [summary] : [];
  const goesOn = head.length > 0 && !(isUsedUp && before.length > 0);
  const firstAnchor = goesOn ? -1 : tail.findIndex(isAnchor);
  const wanted = firstAnchor >= 0 ? tail.slice(firstAnchor) : tail;
  const reachable = events.slice(Math.max(0, before.length - PULL_BACK));
  const kept = withCalls(wanted, reachable);

  if (goesOn || (kept[0] && isAnchor(kept[0]))) return [...head, ...kept];
  const anchor = beforeFirst(events, kept).findLast(isAnchor);
  const front = [...head, ...(anchor ? [anchor] : [])];
  return [...(front.length === 0 && summary ? [summary] : front), ...kept];
}

/** What age and number leave, but for the summary. */
export function tailOf(view: readonly Entry[], filter: Filter, now: number): Entry[] {
  const { newest, fromSeq = 0 } = filter;
  const young = view.filter((entry) => !isSummary(entry) && isYoung(entry, filter, now) && entry.seq >= fromSeq);
  return newest === 0 ? young : young.slice(-newest);
}

function isYoung({ event, appendedAt }: Entry, { maxAgeMs }: Filter, now: number): boolean {
  return maxAgeMs === 0 || now - Math.min(event.timestamp, appendedAt) <= maxAgeMs;
}

/** Fetches calls back until none is missing, after all answers left whose calls cannot be reached. */
function withCalls(wanted: readonly Entry[], reachable: readonly Entry[]): Entry[] {
  const lost = lostAnswers(reachable);
  const shown = new Set(wanted.filter((entry) => !lost.has(entry)));
  const begin = wanted[0] ? reachable.indexOf(wanted[0]) : reachable.length;
  for (let size = -1; size !== shown.size;) {
    size = shown.size;
    for (const answer of shown) {
      for (const call of callsFor(answer, reachable, lost)) {
        const place = call ? reachable.indexOf(call) : begin;
        const fetched = place < begin ? reachable.slice(place, begin) : call ? [call] : [];
        for (const entry of fetched) if (!lost.has(entry)) shown.add(entry);
      }
    }
  }
  return reachable.filter((entry) => shown.has(entry));
}

/** In order, since the answers to calls of an event that is lost are lost as well. */
function lostAnswers(reachable: readonly Entry[]): Set<Entry> {
  const lost = new Set<Entry>();
  for (const entry of reachable) if (callsFor(entry, reachable, lost).includes(undefined)) lost.add(entry);
  return lost;
}

/** For each answer in an entry the last entry before that calls for it, if any that is not lost does. */
function callsFor(entry: Entry, reachable: readonly Entry[], lost: ReadonlySet<Entry>): (Entry | undefined)[] {
  const parts = partsOf(entry);
  const before = beforeFirst(reachable, [entry]).filter((other) => !lost.has(other));
  return parts.flatMap(({ functionResponse }, index) => {
    if (!functionResponse || callsIn(parts.slice(0, index)).some(isAnsweredBy(functionResponse))) return [];
    return [before.findLast((other) => callsIn(partsOf(other)).some(isAnsweredBy(functionResponse)))];
  });
}

function beforeFirst(view: readonly Entry[], [first]: readonly Entry[]): Entry[] {
  return first ? view.slice(0, view.indexOf(first)) : [...view];
}

type Call = NonNullable<GivenPart['functionCall']>;

function callsIn(parts: readonly GivenPart[]): Call[] {
  return parts.flatMap(({ functionCall }) => functionCall ?? []);
}

function isAnsweredBy(answer: Call): (call: Call) => boolean {
  return ({ id, name }) => (answer.id === undefined ? id === undefined && name === answer.name : id === answer.id);
}
