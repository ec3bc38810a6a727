import type { SessionLimits } from '../config/session-settings.js';
import { ruleFilter } from '../sessions/domain/metadata/rule-filter.js';
import { InvalidInputError } from '../sessions/domain/errors/errors.js';
import { assertId } from '../sessions/domain/values/ids.js';
import { assertWholeNumber } from '../sessions/domain/values/input-checks.js';
import { assertFieldNames, requireRequest } from '../sessions/domain/values/request-fields.js';
import { type SearchCursor, parsedSearchCursor } from '../sessions/domain/search/search-cursor.js';
import type { SearchMatch } from '../sessions/domain/search/search-groups.js';
import { type SearchedWord, wordsOfSearch } from '../sessions/domain/search/words.js';
import type { SearchScope } from '../sessions/storage/search-index.js';
import { DEFAULT_HITS, SEARCH_LIMITS, type SearchEventsRequest } from './found-events.js';

/** What a request is checked by. */
interface SearchedStore {
  readonly hasIndex: boolean;
  readonly limits: SessionLimits;
}

/** A checked request. */
export interface CheckedSearch {
  readonly scope: SearchScope;
  readonly words: readonly SearchedWord[];
  readonly match: SearchMatch;
  readonly limit: number;
  readonly parts: number;
  readonly cursor: SearchCursor | undefined;
}

const FIELDS: Readonly<Record<keyof SearchEventsRequest, true>> = {
  appName: true,
  userId: true,
  text: true,
  sessionId: true,
  afterTimestamp: true,
  match: true,
  limit: true,
  cursor: true,
  parts: true,
  within: true,
};

export function checkedSearch(request: SearchEventsRequest, { hasIndex, limits }: SearchedStore): CheckedSearch {
  assertFieldNames(requireRequest(request), FIELDS);
  const { appName, userId, sessionId, afterTimestamp, match = 'all', text, within } = request;
  const { limit = DEFAULT_HITS, parts = 1 } = request;
  assertId(appName, 'appName');
  assertId(userId, 'userId');
  if (sessionId !== undefined) assertId(sessionId, 'sessionId');
  if (afterTimestamp !== undefined) {
    assertWholeNumber(afterTimestamp, { path: 'afterTimestamp', from: 0, to: Number.MAX_SAFE_INTEGER });
  }
  if (match !== 'all' && match !== 'any') throw new InvalidInputError('must be "all" or "any"', 'match');
  assertWholeNumber(limit, { path: 'limit', from: 1, to: SEARCH_LIMITS.hits });
  assertWholeNumber(parts, { path: 'parts', from: 1, to: SEARCH_LIMITS.parts });
  if (typeof text !== 'string' || text.trim() === '') throw new InvalidInputError('must not be empty', 'text');
  if (text.length > SEARCH_LIMITS.characters) {
    throw new InvalidInputError(`must have at most ${SEARCH_LIMITS.characters} characters`, 'text');
  }
  const all = wordsOfSearch(text);
  // Each word of a question is one of many. Where all are needed, the others would be found without it.
  const words = match === 'any' ? all.slice(0, SEARCH_LIMITS.words) : all;
  if (words.length > SEARCH_LIMITS.words) {
    throw new InvalidInputError(
      `must have at most ${SEARCH_LIMITS.words} different words, or pairs of characters`,
      'text',
    );
  }
  // A part without a value would show everything.
  const entries = within === undefined ? [] : ruleFilter(within, 'within', limits).entries;
  const cursor = parsedSearchCursor(request.cursor, { words: words.length, match, hasIndex });
  return { scope: { appName, userId, sessionId, afterTimestamp, entries }, words, match, limit, parts, cursor };
}
