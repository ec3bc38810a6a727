import type { SessionKey, UserKey } from '../domain/values/ids.js';
import type { IndexEntry } from '../domain/metadata/metadata-entries.js';
import type { SearchPosition, WeightedGroup } from '../domain/search/search-groups.js';
import type { SearchTerm } from '../domain/search/terms.js';

/** An event to index. */
export interface SearchEntry {
  readonly key: SessionKey;
  readonly incarnation: string;
  readonly seq: number;
  readonly author: string;
  /** The time of the event. */
  readonly at: number;
  /** What snippets are made of. */
  readonly text: string;
  /** What the event is found by. */
  readonly terms: readonly string[];
}

/** The events to look at. */
export interface SearchScope extends UserKey {
  readonly sessionId?: string | undefined;
  /** Only events of this time and later. */
  readonly afterTimestamp?: number | undefined;
  /** Only sessions whose metadata has all of them. */
  readonly entries: readonly IndexEntry[];
}

/** A page of a search. */
export interface SearchQuery extends SearchScope {
  /** An event is found if it has all terms of a group. */
  readonly groups: readonly WeightedGroup<SearchTerm>[];
  readonly limit: number;
  readonly position?: SearchPosition | undefined;
}

/** A hit. */
export interface FoundEvent extends SearchPosition {
  readonly id: string;
  readonly author: string;
  readonly text: string;
}

/**
 * An index of the words of events beside the log, of which its entries are a part: they go with their events, in the same transaction.
 * It only stores and finds; the rules are in `SessionSearch`. It is made when it is opened, so that stores that are not searched have none.
 */
export interface SearchIndex {
  /** Makes what it lacks. */
  open(): Promise<void>;
  /**
   * Adds entries that are not there, of events that are in the log. Those of others do nothing.
   *
   * @param trimsLog whether entries of these sessions are removed whose events were trimmed
   */
  add(entries: readonly SearchEntry[], trimsLog: boolean): Promise<void>;
  /** Replaces the entry of an event, or removes it. Does nothing where there is no index, or no entry. */
  replace(incarnation: string, eventId: string, entry: SearchEntry | undefined): Promise<void>;
  /** How many events have each of the terms. */
  counts(scope: SearchScope, terms: readonly SearchTerm[]): Promise<number[]>;
  /** The heaviest hits, of these the newest, whose events are in the log. */
  search(query: SearchQuery): Promise<FoundEvent[]>;
  /** Removes at most so many entries of a user, of an app or of all, and returns how many. */
  clear(owner: Partial<UserKey>, limit: number): Promise<number>;
}
