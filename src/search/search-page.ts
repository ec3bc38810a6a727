import { scoreOf, type WeightedGroup } from '../sessions/domain/search/search-groups.js';
import { snippetOf } from '../sessions/domain/search/snippet.js';
import type { SearchedWord } from '../sessions/domain/search/words.js';
import type { FoundEvent } from '../sessions/storage/search-index.js';

/** An event that has the words of a search. */
export interface SearchHit {
  readonly sessionId: string;
  readonly seq: number;
  readonly id: string;
  readonly author: string;
  /** The time of the event. */
  readonly at: number;
  /** The part of its text around the first word. */
  readonly snippet: string;
  /** How much of the search it has, from 0 to 1; a rare word counts more. */
  readonly score: number;
}

/** A page of hits: the best first, of these the newest. */
export interface SearchPage {
  readonly hits: readonly SearchHit[];
  /** Whether all events were looked at. If not, the `nextCursor` goes on with older ones. */
  readonly isComplete: boolean;
  readonly nextCursor?: string | undefined;
}

export function hitOf(
  { sessionId, seq, id, author, at, text, weight }: FoundEvent,
  words: readonly SearchedWord[],
  groups: readonly WeightedGroup<unknown>[],
): SearchHit {
  return { sessionId, seq, id, author, at, snippet: snippetOf(text, words), score: scoreOf(weight, groups) };
}
