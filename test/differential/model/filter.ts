import { type Entry, type GivenPart, isAnchor, isSummary, partsOf } from './entries.js';

/** The limits of a view; 0 switches a limit off. */
export interface Filter {
  readonly newest: number;
  readonly maxAgeMs: number;
  /** Events before this one were left out earlier, and are included only to complete the view. */
  readonly fromSeq?: number | undefined;
}

const PULL_BACK = 20;

/** Applies age, newest N, tool calls, anchor and summary to a view. */
export function filterView(view: readonly Entry[], filter: Filter, now: number): Entry[] {
  const { newest, maxAgeMs, fromSeq } = filter;
  if (newest === 0 && maxAgeMs === 0 && fromSeq === undefined) return [...view];
  const summary = view.find(isSummary);
  const events = view.filter((entry) => entry !== summary);
  const tail = tailOf(view, filter, now);
  const before = beforeFirst(events, tail);

  const isLimited = fromSeq !== undefined || (newest > 0 && tail.length === newest);
  const head = summary && isYoung(summary, filter, now) ? [summary] : [];
  const continuesSummary = head.length > 0 && !(isLimited && before.length > 0);
  const firstAnchor = continuesSummary ? -1 : tail.findIndex(isAnchor);
  const wanted = firstAnchor >= 0 ? tail.slice(firstAnchor) : tail;
  const reachable = events.slice(Math.max(0, before.length - PULL_BACK));
  const kept = withCalls(wanted, reachable);

  if (continuesSummary || (kept[0] && isAnchor(kept[0]))) return [...head, ...kept];
  const anchor = beforeFirst(events, kept).findLast(isAnchor);
  const front = [...head, ...(anchor ? [anchor] : [])];
  return [...(front.length === 0 && summary ? [summary] : front), ...kept];
}

/** The events that the limits on age and number allow, without the summary. */
export function tailOf(view: readonly Entry[], filter: Filter, now: number): Entry[] {
  const { newest, fromSeq = 0 } = filter;
  const young = view.filter((entry) => !isSummary(entry) && isYoung(entry, filter, now) && entry.seq >= fromSeq);
  return newest === 0 ? young : young.slice(-newest);
}

export function isYoung({ event, appendedAt }: Entry, { maxAgeMs }: Filter, now: number): boolean {
  return maxAgeMs === 0 || now - Math.min(event.timestamp, appendedAt) <= maxAgeMs;
}

/** Adds calls until none is missing. Responses whose calls are out of reach are removed first. */
function withCalls(wanted: readonly Entry[], reachable: readonly Entry[]): Entry[] {
  const orphaned = orphanedResponses(reachable);
  const shown = new Set(wanted.filter((entry) => !orphaned.has(entry)));
  const begin = wanted[0] ? reachable.indexOf(wanted[0]) : reachable.length;
  for (let size = -1; size !== shown.size;) {
    size = shown.size;
    for (const response of shown) {
      for (const call of callsFor(response, reachable, orphaned)) {
        const place = call ? reachable.indexOf(call) : begin;
        const fetched = place < begin ? reachable.slice(place, begin) : call ? [call] : [];
        for (const entry of fetched) if (!orphaned.has(entry)) shown.add(entry);
      }
    }
  }
  return reachable.filter((entry) => shown.has(entry));
}

/** Each response of a view with a call that it needs and that is within reach. @param first of the wanted events */
export function responsesNeeding(
  whole: readonly Entry[],
  shown: readonly Entry[],
  first: Entry | undefined,
): { readonly response: Entry; readonly call: Entry }[] {
  const events = whole.filter((entry) => !isSummary(entry));
  const before = first ? beforeFirst(events, [first]) : events;
  const reachable = events.slice(Math.max(0, before.length - PULL_BACK));
  const orphaned = orphanedResponses(reachable);
  return reachable
    .filter((entry) => shown.includes(entry))
    .flatMap((response) =>
      callsFor(response, reachable, orphaned).flatMap((call) => (call ? [{ response, call }] : [])),
    );
}

/** In log order, because a response to a call in an orphaned event is orphaned too. */
function orphanedResponses(reachable: readonly Entry[]): Set<Entry> {
  const orphaned = new Set<Entry>();
  for (const entry of reachable) if (callsFor(entry, reachable, orphaned).includes(undefined)) orphaned.add(entry);
  return orphaned;
}

/**
 * For each response in an entry, the last earlier entry with its call, or `undefined`. Orphaned entries do not count.
 */
function callsFor(entry: Entry, reachable: readonly Entry[], orphaned: ReadonlySet<Entry>): (Entry | undefined)[] {
  const parts = partsOf(entry);
  const before = beforeFirst(reachable, [entry]).filter((other) => !orphaned.has(other));
  return parts.flatMap(({ functionResponse }, index) => {
    if (!functionResponse || callsIn(parts.slice(0, index)).some(isCallOf(functionResponse))) return [];
    return [before.findLast((other) => callsIn(partsOf(other)).some(isCallOf(functionResponse)))];
  });
}

function beforeFirst(view: readonly Entry[], [first]: readonly Entry[]): Entry[] {
  return first ? view.slice(0, view.indexOf(first)) : [...view];
}

type Call = NonNullable<GivenPart['functionCall']>;

function callsIn(parts: readonly GivenPart[]): Call[] {
  return parts.flatMap(({ functionCall }) => functionCall ?? []);
}

function isCallOf(response: Call): (call: Call) => boolean {
  return ({ id, name }) =>
    response.id === undefined ? id === undefined && name === response.name : id === response.id;
}
