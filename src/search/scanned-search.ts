import { type ScanPosition, searchCursorText } from '../sessions/domain/search/search-cursor.js';
import {
  comparePositions,
  groupsOf,
  type SearchPosition,
  type WeightedGroup,
  weightsOf,
} from '../sessions/domain/search/search-groups.js';
import { type SearchedWord, wordsFoundIn } from '../sessions/domain/search/words.js';
import type { FoundEvent } from '../sessions/storage/search-index.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import type { SearchPage } from './found-events.js';
import { readPart, type ScannedEvent } from './scanned-part.js';
import { hitOf } from './search-page.js';
import type { CheckedSearch } from './search-request.js';

/** An event that has some of the words. */
interface Candidate extends Omit<FoundEvent, 'weight'> {
  readonly words: ReadonlySet<SearchedWord>;
}

/** Reads a part of the logs, and finds in it what an index would find. The hits of a part have the order of an index. */
export async function searchByScan(
  storage: SessionStorage,
  { scope, words, match, limit, cursor }: CheckedSearch,
): Promise<SearchPage> {
  if (words.length === 0) return { hits: [], isComplete: true };
  const candidates: Candidate[] = [];
  const { first, rest } = await readPart(storage, scope, cursor?.scan, (event) => {
    const found = candidateOf(event, words);
    if (found) candidates.push(found);
  });
  const counts = words.map((word) => candidates.filter((candidate) => candidate.words.has(word)).length);
  // Each part of the logs has its own weights.
  const weights = cursor?.position ? cursor.weights : weightsOf(match, counts);
  const groups = groupsOf(words, match, weights);
  const found = candidates.flatMap((candidate) => weighed(candidate, groups)).toSorted(comparePositions);
  const { position } = cursor ?? {};
  const left = position ? found.filter((event) => comparePositions(event, position) > 0) : found;
  const page = left.slice(0, limit);
  const nextCursor = cursorAfter({ page, hasMore: left.length > limit, weights, first, rest });
  return {
    hits: page.map((event) => hitOf(event, words, groups)),
    isComplete: rest === undefined,
    ...(nextCursor !== undefined && { nextCursor }),
  };
}

function candidateOf({ text, ...event }: ScannedEvent, searched: readonly SearchedWord[]): Candidate | undefined {
  const found = wordsFoundIn(text, searched);
  return found.length === 0 ? undefined : { ...event, text, words: new Set(found) };
}

function weighed(candidate: Candidate, groups: readonly WeightedGroup<SearchedWord>[]): FoundEvent[] {
  const weight = groups
    .filter(({ words }) => words.every((word) => candidate.words.has(word)))
    .reduce((sum, group) => sum + group.weight, 0);
  return weight === 0 ? [] : [{ ...candidate, weight }];
}

interface EndOfPage {
  readonly page: readonly SearchPosition[];
  readonly hasMore: boolean;
  readonly weights: readonly number[];
  readonly first: ScanPosition | undefined;
  readonly rest: ScanPosition | undefined;
}

/** The rest of the hits of this part, or else the next part. */
function cursorAfter({ page, hasMore, weights, first, rest }: EndOfPage): string | undefined {
  if (hasMore) return searchCursorText({ weights, position: page.at(-1), scan: first });
  return rest && searchCursorText({ weights: [], scan: rest });
}
