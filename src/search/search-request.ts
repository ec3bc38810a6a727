import { InvalidInputError } from '../sessions/domain/errors.js';
import { type UserKey, assertId } from '../sessions/domain/ids.js';
import { assertWholeNumber, requireRequest } from '../sessions/domain/input-checks.js';
import { type SearchCursor, parsedSearchCursor } from '../sessions/domain/search/search-cursor.js';
import type { SearchMatch } from '../sessions/domain/search/search-groups.js';
import { type SearchedWord, wordsOfSearch } from '../sessions/domain/search/words.js';
import type { SearchScope } from '../sessions/storage/search-index.js';

/** What to search for, and where. */
export interface SearchEventsRequest extends UserKey {
  /** At most 1,000 characters and 64 words; of a question, the first 64 count. Any text is allowed: it has no operators. */
  readonly text: string;
  /** Default: all sessions of the user. */
  readonly sessionId?: string | undefined;
  /** Only events of later times, in epoch milliseconds. */
  readonly after?: number | undefined;
  /** Whether an event must have all words (default), or is found by any of them, the rarest first: for questions. */
  readonly match?: SearchMatch | undefined;
  /** Hits per page, at most 50. Default: 20. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
}

/** A checked request. */
export interface CheckedSearch {
  readonly scope: SearchScope;
  readonly words: readonly SearchedWord[];
  readonly match: SearchMatch;
  readonly limit: number;
  readonly cursor: SearchCursor | undefined;
}

export const MOST_HITS = 50;
const DEFAULT_HITS = 20;
const MOST_CHARACTERS = 1_000;
const MOST_WORDS = 64;

export function checkedSearch(request: SearchEventsRequest): CheckedSearch {
  const { appName, userId, sessionId, after, match = 'all', limit = DEFAULT_HITS, text } = requireRequest(request);
  assertId(appName, 'appName');
  assertId(userId, 'userId');
  if (sessionId !== undefined) assertId(sessionId, 'sessionId');
  if (after !== undefined) assertWholeNumber(after, { path: 'after', from: 0, to: Number.MAX_SAFE_INTEGER });
  if (match !== 'all' && match !== 'any') throw new InvalidInputError('must be "all" or "any"', 'match');
  assertWholeNumber(limit, { path: 'limit', from: 1, to: MOST_HITS });
  if (typeof text !== 'string' || text.trim() === '') throw new InvalidInputError('must not be empty', 'text');
  if (text.length > MOST_CHARACTERS) {
    throw new InvalidInputError(`must have at most ${MOST_CHARACTERS} characters`, 'text');
  }
  const all = wordsOfSearch(text);
  // Each word of a question is one of many. Where all are needed, the others would be found without it.
  const words = match === 'any' ? all.slice(0, MOST_WORDS) : all;
  if (words.length > MOST_WORDS) {
    throw new InvalidInputError(`must have at most ${MOST_WORDS} different words, or pairs of characters`, 'text');
  }
  const cursor = parsedSearchCursor(request.cursor, words.length);
  return { scope: { appName, userId, sessionId, after }, words, match, limit, cursor };
}
