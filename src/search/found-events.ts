import type { SessionKey, UserKey } from '../sessions/domain/values/ids.js';
import type { SearchMatch } from '../sessions/domain/search/search-groups.js';
import type { SessionFilter } from '../sessions/domain/metadata/session-filter.js';

/** What to search for, and where. */
export interface SearchEventsRequest extends UserKey {
  /** At most 1,000 characters and 64 words; of a question, the first 64 count. Any text is allowed: it has no operators. */
  readonly text: string;
  /** Default: all sessions of the user. */
  readonly sessionId?: string | undefined;
  /** Only events of this time and later, in epoch milliseconds. */
  readonly afterTimestamp?: number | undefined;
  /** Whether an event must have all words (default), or is found by any of them, the rarest first: for questions. */
  readonly match?: SearchMatch | undefined;
  /** Hits per page, at most 50. Default: 20. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /**
   * Without an index, how many parts of the logs to look through for the best hits, up to 10. A part is 2,000 events or 4 MiB, the newest
   * first. Default: 1.
   */
  readonly parts?: number | undefined;
  /** Only sessions whose metadata has all of this: the filter of an access rule. */
  readonly within?: SessionFilter | undefined;
}

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

/** An event, and how many before and after it to read. */
export interface EventsAroundRequest extends SessionKey {
  readonly seq: number;
  /** At most 50. Default: 5. */
  readonly before?: number | undefined;
  /** At most 50. Default: 5. */
  readonly after?: number | undefined;
}

/** How old the index of searches is: one for all users. */
export interface SearchStatus {
  /** Whether it is kept. If not, no instance has started to, or its consumer was removed, and a search finds only what was indexed before. */
  readonly isKept: boolean;
  /** Whether it is filled from logs that are older than it. */
  readonly isFilling: boolean;
  /** Whether events could not be indexed. The dead letters of its consumer name them. */
  readonly hasGaps: boolean;
  /** For how long the oldest event that no search finds yet waits; 0 if there is none. */
  readonly behindMs: number;
}

/** Limits of requests. */
export const SEARCH_LIMITS = { hits: 50, characters: 1_000, words: 64, around: 50, parts: 10 } as const;
export const DEFAULT_HITS = 20;
export const DEFAULT_AROUND = 5;
