import { scoreOf, type WeightedGroup } from '../sessions/domain/search/search-groups.js';
import { snippetOf } from '../sessions/domain/search/snippet.js';
import type { SearchedWord } from '../sessions/domain/search/words.js';
import type { FoundEvent } from '../sessions/storage/search-index.js';
import type { SearchHit } from './found-events.js';

export function hitOf(
  { sessionId, seq, id, author, at, text, weight }: FoundEvent,
  words: readonly SearchedWord[],
  groups: readonly WeightedGroup<unknown>[],
): SearchHit {
  return { sessionId, seq, id, author, at, snippet: snippetOf(text, words), score: scoreOf(weight, groups) };
}
