import type { SessionsError } from '../domain/errors/errors.js';
import type { SessionKey, StateOwner } from '../domain/values/ids.js';
import type { IndexEntry, MetadataText } from '../domain/metadata/metadata-entries.js';
import type { SessionRecord } from '../domain/stored/session-record.js';
import type { StateLimits } from '../domain/stored/state-size.js';
import type { StoredState } from './state-entries.js';

/** The time by which a list is sorted. */
export type ListOrderBy = 'lastUpdateTime' | 'createTime';
/** Oldest or newest first. */
export type ListOrder = 'asc' | 'desc';

/** A position in a list. Ties in time are broken by user id, then session id, byte for byte. */
export interface ListPosition {
  readonly time: number;
  readonly userId: string;
  readonly sessionId: string;
}

/** The page of a list to read. */
export interface ListRequest extends StateOwner {
  readonly orderBy: ListOrderBy;
  readonly order: ListOrder;
  readonly limit: number;
  readonly after?: ListPosition | undefined;
  readonly offset?: number | undefined;
  /** Whether to count all sessions of the list. */
  readonly withTotal?: boolean;
  /** Whether to read the state. Default true; with `false` it may be empty. */
  readonly withState?: boolean;
  /** The same as of `ReadRequest`, for all sessions of the page. */
  readonly maxStateBytes?: StateLimits | undefined;
  /** Which sessions to list. Default: all. Never together with `offset` or `withTotal`. */
  readonly filter?: ListFilter | undefined;
  /**
   * Ends the page early, after at least one session, if state and metadata together have more bytes than this. Then `isCut` is
   * set. A store need not count exactly, and may read 32 sessions before it does.
   */
  readonly maxBytes?: number | undefined;
}

/** A filter of a list. */
export interface ListFilter {
  /** The metadata has all of them: see `hasEntries`. At least one, sorted. */
  readonly entries: readonly IndexEntry[];
  /** How many sessions to examine at most, so that the cost does not grow with the number of sessions. */
  readonly maxExamined: number;
}

/** A session in a list: its record, its metadata and its state, no events. */
export interface ListedSession {
  readonly record: SessionRecord;
  readonly metadata: MetadataText;
  readonly state: StoredState;
  /** Why texts of it cannot be decrypted, in an encrypted store. It is listed without them: one never fails the list of the others. */
  readonly unreadable?: SessionsError | undefined;
  /** Whether status, tags and labels are among these texts. */
  readonly areLabelsSealed?: boolean | undefined;
}

/** A page of a list. */
export interface ListResult {
  readonly sessions: readonly ListedSession[];
  /**
   * Sessions of which the record is damaged, for reports: one of them never fails the list of the others. A store lists them
   * nevertheless if it can read their ids and times.
   */
  readonly damaged?: readonly SessionKey[] | undefined;
  /** Of the whole list, if requested. */
  readonly total?: number;
  /**
   * Whether the store ended the page early, as for `maxBytes`. Then it has at least one session, more may follow the last one,
   * and `examinedTo` is missing.
   */
  readonly isCut?: boolean | undefined;
  /**
   * How far a filtered list was examined, if that ended at `maxExamined` and with fewer sessions than the limit. More may
   * follow after this position.
   */
  readonly examinedTo?: ListPosition | undefined;
}
