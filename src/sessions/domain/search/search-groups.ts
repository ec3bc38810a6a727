import { compareBytes } from '../values/ids.js';

/** Words that an event must have together, and what it gets for them. */
export interface WeightedGroup<Word> {
  readonly words: readonly Word[];
  /** A whole number, so that sums are the same in every database. */
  readonly weight: number;
}

/** The place of a hit among others: the heaviest first, of these the newest. */
export interface SearchPosition {
  readonly weight: number;
  readonly at: number;
  readonly sessionId: string;
  readonly seq: number;
}

/** Whether an event must have all words of a search, or is found by any of them. */
export type SearchMatch = 'all' | 'any';

const FULL_WEIGHT = 1_000;

/** The weights of the groups of a search: of one group of all words, or of each word. */
export function weightsOf(match: SearchMatch, counts: readonly number[]): number[] {
  return match === 'all' ? [FULL_WEIGHT] : counts.map(weightOfWord);
}

/** A word of many events says less about each of them. */
function weightOfWord(count: number): number {
  return count === 0 ? 0 : Math.ceil(FULL_WEIGHT / (1 + Math.log2(count)));
}

/** The groups of a search by the words that events have. */
export function createSearchGroups<Word>(
  words: readonly Word[],
  match: SearchMatch,
  weights: readonly number[],
): WeightedGroup<Word>[] {
  const groups = match === 'all' ? [words] : words.map((word) => [word]);
  return groups.flatMap((some, index) => {
    const weight = weights[index] ?? 0;
    return weight === 0 ? [] : [{ words: some, weight }];
  });
}

/** In the order of hits. */
export function comparePositions(one: SearchPosition, other: SearchPosition): number {
  return (
    other.weight - one.weight ||
    other.at - one.at ||
    compareBytes(other.sessionId, one.sessionId) ||
    other.seq - one.seq
  );
}

/** What an event has of all that there is, from 0 to 1. */
export function computeSearchScore(weight: number, groups: readonly Pick<WeightedGroup<unknown>, 'weight'>[]): number {
  const whole = groups.reduce((sum, group) => sum + group.weight, 0);
  return Math.round((weight / whole) * FULL_WEIGHT) / FULL_WEIGHT;
}
