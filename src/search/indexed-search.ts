import { searchCursorText } from '../sessions/domain/search/search-cursor.js';
import { createSearchGroups, weightsOf } from '../sessions/domain/search/search-groups.js';
import { snippetOf } from '../sessions/domain/search/snippet.js';
import { UserTerms } from '../sessions/domain/search/terms.js';
import type { SearchIndex } from '../sessions/storage/search-index.js';
import type { SearchPage } from './found-events.js';
import { hitOf } from './search-page.js';
import type { CheckedSearch } from './search-request.js';

/** Asks the index of the store: once, and before once more for the weights of several words of which any is enough. */
export async function searchIndexed(
  index: SearchIndex,
  { scope, words, match, limit, cursor }: CheckedSearch,
): Promise<SearchPage> {
  const ofUser = new UserTerms(scope);
  const terms = words.map((word) => ofUser.ofSearch(word));
  if (terms.length === 0) return { hits: [], isComplete: true };
  const needsCounts = match === 'any' && terms.length > 1;
  const counts = needsCounts && !cursor ? await index.counts(scope, terms) : [1];
  const weights = cursor?.weights ?? weightsOf(match, counts);
  const groups = createSearchGroups(terms, match, weights);
  if (groups.length === 0) return { hits: [], isComplete: true };
  const found = await index.search({ ...scope, groups, limit: limit + 1, position: cursor?.position });
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const nextCursor = last && found.length > limit ? searchCursorText({ weights, position: last }) : undefined;
  return {
    hits: page.map((event) => hitOf(event, snippetOf(event.text, words), groups)),
    isComplete: true,
    ...(nextCursor !== undefined && { nextCursor }),
  };
}
