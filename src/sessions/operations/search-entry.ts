import type { LoggedEvent } from '../domain/event/event.js';
import { type SessionKey, sessionKeyOf } from '../domain/values/ids.js';
import { searchedText } from '../domain/search/event-text.js';
import { UserTerms } from '../domain/search/terms.js';
import { wordsOfText } from '../domain/search/words.js';
import type { SearchEntry } from '../storage/search-index.js';

/** What a search shows of an event. */
export interface FoundText {
  readonly seq: number;
  readonly id: string;
  readonly author: string;
  readonly at: number;
  /** Empty if there is nothing to find. */
  readonly text: string;
}

export function foundTextOf(event: LoggedEvent): FoundText {
  const { seq, id, author = '', timestamp } = event;
  // PostgreSQL stores no U+0000, and whole numbers only.
  return { seq, id, author: author.replaceAll('\u0000', ''), at: Math.round(timestamp), text: searchedText(event) };
}

/** What an index gets of an event; nothing if there is nothing to find. */
export function searchEntryOf(key: SessionKey, incarnation: string, event: LoggedEvent): SearchEntry | undefined {
  const { text, ...found } = foundTextOf(event);
  const terms = new UserTerms(key).ofText(wordsOfText(text));
  return terms.length === 0 ? undefined : { ...found, text, terms, key: sessionKeyOf(key), incarnation };
}
