import type { ModelRequest, SeqPair } from './model-request.js';
import { type SeqRange, rangesOutside } from '../values/seq-ranges.js';

/** What a model was given otherwise than for another request. */
export interface RequestDifference {
  /** The event that is the answer to the other request. */
  readonly seq: number;
  /**
   * With which event the beginning ends that both have in common; 0: they begin with different events. If instructions and tools are the
   * same, too, a vendor's cache can know all up to there.
   */
  readonly stableUntilSeq: number;
  /** The events that the other one was not given, in the order of the log. */
  readonly added: readonly SeqPair[];
  /** The events that only the other one was given, in the order of the log. */
  readonly removed: readonly SeqPair[];
  readonly isPromptSame: boolean;
  readonly areToolsSame: boolean;
}

/** What a view has otherwise than another one, of which `seq` was the last event. */
export type ViewDifference = Omit<RequestDifference, 'isPromptSame' | 'areToolsSame'>;

/**
 * What changed from one request to another.
 *
 * @param before with the event that is its answer
 * @example requestDifference({ seq: 3, given: [[1, 2]] }, { given: [[1, 4]] }).added; // [[3, 4]]
 */
export function requestDifference(
  before: ModelRequest & { readonly seq: number },
  after: ModelRequest,
): RequestDifference {
  return {
    seq: before.seq,
    ...givenDifference(before.given, after.given),
    isPromptSame: before.promptHash === after.promptHash,
    areToolsSame: before.toolsHash === after.toolsHash,
  };
}

/** Which events the second list has otherwise than the first one, by their ranges. */
export function givenDifference(before: readonly SeqPair[], after: readonly SeqPair[]): Omit<ViewDifference, 'seq'> {
  return {
    stableUntilSeq: stableUntil(before, after),
    added: without(after, before),
    removed: without(before, after),
  };
}

/** With which event the common beginning of two lists of events ends, by their ranges; 0 if there is none. */
export function stableUntil(before: readonly SeqPair[], after: readonly SeqPair[]): number {
  let stable = 0;
  for (const [index, [from, to]] of before.entries()) {
    const other = after[index];
    if (other?.[0] !== from) return stable;
    stable = Math.min(to, other[1]);
    if (to !== other[1]) return stable;
  }
  return stable;
}

/** What of these ranges is in none of the others, ascending. It goes through both once. */
function without(ranges: readonly SeqPair[], others: readonly SeqPair[]): SeqPair[] {
  const holes = ascending(others);
  let first = 0;
  const left = ascending(ranges).flatMap((whole) => {
    while (first < holes.length && (holes[first]?.to ?? 0) < whole.from) first++;
    let end = first;
    while (end < holes.length && (holes[end]?.from ?? 0) <= whole.to) end++;
    return rangesOutside(whole, holes.slice(first, end));
  });
  return left.map(({ from, to }) => [from, to]);
}

function ascending(pairs: readonly SeqPair[]): SeqRange[] {
  return pairs.map(([from, to]) => ({ from, to })).toSorted((a, b) => a.from - b.from);
}
