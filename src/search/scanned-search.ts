import { type ScanPosition, searchCursorText } from '../sessions/domain/search/search-cursor.js';
import {
  comparePositions,
  createSearchGroups,
  type SearchPosition,
  type WeightedGroup,
  weightsOf,
} from '../sessions/domain/search/search-groups.js';
import { snippetOf } from '../sessions/domain/search/snippet.js';
import { type SearchedWord, wordsFoundIn } from '../sessions/domain/search/words.js';
import type { FoundEvent } from '../sessions/storage/search-index.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import type { SearchPage } from './found-events.js';
import { readPart, type ScannedEvent } from './scanned-part.js';
import { hitOf } from './search-page.js';
import type { CheckedSearch } from './search-request.js';

/** An event that has some of the words. */
interface Candidate extends Omit<FoundEvent, 'weight' | 'text'> {
  readonly words: ReadonlySet<SearchedWord>;
  readonly snippet: string;
}

/** Reads parts of the logs, and finds in them what an index would find. The hits of one search have the order of an index. */
export async function searchByScan(
  storage: SessionStorage,
  { scope, words, match, limit, parts, cursor }: CheckedSearch,
): Promise<SearchPage> {
  if (words.length === 0) return { hits: [], isComplete: true };
  const candidates: Candidate[] = [];
  const note = (event: ScannedEvent): void => {
    const found = candidateOf(event, words);
    if (found) candidates.push(found);
  };
  let { first, rest } = await readPart(storage, scope, cursor?.scan, note);
  // None is better than one with all the words.
  const isBest = (): boolean => candidates.filter((each) => each.words.size === words.length).length >= limit;
  for (let part = 1; rest && part < parts && !isBest(); part++) {
    const next = await readPart(storage, scope, rest, note);
    first ??= next.first;
    ({ rest } = next);
  }
  const counts = words.map((word) => candidates.filter((candidate) => candidate.words.has(word)).length);
  // What is read at once has its own weights.
  const weights = cursor?.position ? cursor.weights : weightsOf(match, counts);
  const groups = createSearchGroups(words, match, weights);
  const found = candidates.flatMap((candidate) => weighed(candidate, groups)).toSorted(comparePositions);
  const { position } = cursor ?? {};
  const left = position ? found.filter((event) => comparePositions(event, position) > 0) : found;
  const page = left.slice(0, limit);
  const nextCursor = cursorAfter({ page, hasMore: left.length > limit, weights, first, rest });
  return {
    hits: page.map((event) => hitOf(event, event.snippet, groups)),
    isComplete: rest === undefined,
    ...(nextCursor !== undefined && { nextCursor }),
  };
}

function candidateOf({ text, ...event }: ScannedEvent, searched: readonly SearchedWord[]): Candidate | undefined {
  const found = wordsFoundIn(text, searched);
  return found.length === 0 ? undefined : { ...event, snippet: snippetOf(text, searched), words: new Set(found) };
}

function weighed(candidate: Candidate, groups: readonly WeightedGroup<SearchedWord>[]): (Candidate & SearchPosition)[] {
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

/** The rest of the hits of what was read, or else what comes after it. */
function cursorAfter({ page, hasMore, weights, first, rest }: EndOfPage): string | undefined {
  if (hasMore) return searchCursorText({ weights, position: page.at(-1), scan: first });
  return rest && searchCursorText({ weights: [], scan: rest });
}
