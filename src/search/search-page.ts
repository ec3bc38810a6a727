import { computeSearchScore, type WeightedGroup } from '../sessions/domain/search/search-groups.js';
import type { FoundEvent } from '../sessions/storage/search-index.js';
import type { SearchHit } from './found-events.js';

export function hitOf(
  { sessionId, seq, id, author, at, weight }: Omit<FoundEvent, 'text'>,
  snippet: string,
  groups: readonly WeightedGroup<unknown>[],
): SearchHit {
  return { sessionId, seq, id, author, at, snippet, score: computeSearchScore(weight, groups) };
}
