import { type Entry, type GivenPart, isAnchor, partsOf } from './entries.js';

/** How much of a view is shown; 0 switches a setting off. */
export interface Filter {
  readonly newest: number;
  readonly maxAgeMs: number;
}

/** Whether a filter lets so many events pass, whatever they are, as long as they are young. */
export function isWithin({ newest }: Filter, count: number): boolean {
  return newest === 0 || count <= newest;
}

const PULL_BACK = 20;

/** Age, newest N, tool calls, anchor: what is left of a view. */
export function filterView(view: readonly Entry[], { newest, maxAgeMs }: Filter, now: number): Entry[] {
  if (newest === 0 && maxAgeMs === 0) return [...view];
  const young = view.filter((entry) => maxAgeMs === 0 || now - timeOf(entry) <= maxAgeMs);
  const tail = newest === 0 ? young : young.slice(-newest);
  const firstAnchor = tail.findIndex(isAnchor);
  if (firstAnchor >= 0) return tail.slice(firstAnchor);

  const kept = withCalls(view, tail);
  if (kept.some(isAnchor)) return kept;
  const anchor = beforeFirst(view, kept).findLast(isAnchor);
  return anchor ? [anchor, ...kept] : kept;
}

/** Pulls the beginning of a tail back to the calls that its first event answers, or lets that event leave the view. */
function withCalls(view: readonly Entry[], tail: readonly Entry[]): Entry[] {
  const [first, ...rest] = tail;
  const answers = first ? partsOf(first).flatMap((part) => (part.functionResponse ? [part.functionResponse] : [])) : [];
  if (answers.length === 0) return [...tail];
  const before = beforeFirst(view, tail);
  const calls = answers.map((answer) => before.findLastIndex((entry) => callsOf(entry).some(isAnsweredBy(answer))));
  const oldest = Math.min(...calls);
  if (oldest >= 0 && oldest >= before.length - PULL_BACK) return withCalls(view, [...before.slice(oldest), ...tail]);
  return withCalls(
    view.filter((entry) => entry !== first),
    rest,
  );
}

function beforeFirst(view: readonly Entry[], [first]: readonly Entry[]): Entry[] {
  return first ? view.slice(0, view.indexOf(first)) : [...view];
}

type Call = NonNullable<GivenPart['functionCall']>;

function callsOf(entry: Entry): Call[] {
  return partsOf(entry).flatMap(({ functionCall }) => functionCall ?? []);
}

function isAnsweredBy(answer: Call): (call: Call) => boolean {
  return ({ id, name }) => (answer.id === undefined ? id === undefined && name === answer.name : id === answer.id);
}

function timeOf({ event, appendedAt }: Entry): number {
  return Math.min(event.timestamp, appendedAt);
}
