import type { Entry, GivenEvent } from './entries.js';

/** What a model was given, as the model of the log sees it: one event after the other. */
export interface ModelFact {
  given: number[][];
  isExact?: boolean;
}

export function factOf({ modelRequest }: GivenEvent): ModelFact | undefined {
  return modelRequest as ModelFact | undefined;
}

/** Every event of some ranges, in order. */
export function eventsIn(ranges: readonly (readonly number[])[]): number[] {
  return ranges.flatMap(([from = 0, to = 0]) => Array.from({ length: to - from + 1 }, (_, index) => from + index));
}

/** Neighbours are one range. */
function rangesOf(seqs: readonly number[]): number[][] {
  const ranges: number[][] = [];
  for (const seq of seqs) {
    const last = ranges.at(-1);
    if (last?.[1] === seq - 1) last[1] = seq;
    else ranges.push([seq, seq]);
  }
  return ranges;
}

/** The same fact in a fork. @param places the new number of each event that the fork has */
export function forkedFact(fact: ModelFact, places: ReadonlyMap<number, number>): ModelFact {
  const seqs = eventsIn(fact.given);
  const left = seqs.flatMap((seq) => places.get(seq) ?? []);
  const isExact = fact.isExact !== false && left.length === seqs.length;
  const { given: _given, isExact: _isExact, ...rest } = fact;
  return { given: rangesOf(left), ...(!isExact && { isExact: false }), ...rest };
}

/** With which event the beginning ends that a view shares with the last fact of the log. */
export function stableUntil(log: readonly Entry[], shown: readonly Entry[]): number | undefined {
  const answer = log.slice(-200).findLast(({ event }) => factOf(event));
  const fact = answer && factOf(answer.event);
  if (!fact) return undefined;
  const seqs = eventsIn(fact.given);
  const end = shown.findIndex(({ seq }, index) => seqs[index] !== seq);
  return (end < 0 ? shown : shown.slice(0, end)).at(-1)?.seq ?? 0;
}
