import type { NoteOutcome, WorkEntry, WorkProgress } from '../domain/consumer-work.js';
import type { SessionRecord } from '../domain/session-record.js';

/** A registered consumer. */
export interface StoredConsumer {
  readonly name: string;
  /** By the store's clock. */
  readonly registeredAt: number;
  /** Opaque text. */
  readonly settings: string;
}

/** A session with events that are not dispatched yet. */
export type ChangedSession = Pick<
  SessionRecord,
  'appName' | 'userId' | 'sessionId' | 'incarnation' | 'createTime' | 'lastSeq' | 'dispatchedSeq' | 'waitingSince'
>;

/** Work for a consumer. Existing work on the same session gets the new `upTo`, and keeps the rest. */
export type NewWork = Pick<WorkEntry, 'consumer' | 'key' | 'incarnation' | 'seq' | 'upTo' | 'since'>;

/** One step of the dispatcher. */
export interface DispatchRequest {
  /** Fencing token of the dispatcher's lease. */
  readonly token: number;
  readonly work: readonly NewWork[];
  /** The sessions that are dispatched with it, as they were read. */
  readonly taken: readonly ChangedSession[];
  /** New settings of a consumer, if its settings are still `expected`; otherwise nothing is done. */
  readonly settings?: { readonly name: string; readonly expected: string; readonly next: string } | undefined;
}

/** Which work to claim. */
export interface ClaimRequest {
  readonly consumer: string;
  /** Identifies the claim: unique text of 1 to 191 bytes. */
  readonly claim: string;
  readonly limit: number;
  /** The claim is over after this time, unless its progress is noted. */
  readonly forMs: number;
}

/** How much waits for a consumer. */
export interface StoredLag {
  /** Sessions with dispatched events that are not handled. */
  readonly sessions: number;
  /** The earliest `since` of them. */
  readonly oldestSince?: number | undefined;
  readonly deadLetters: number;
  readonly now: number;
}

/**
 * What durable consumers need of a store. Appends mark sessions with new events: see `markAfterAppend`. A dispatcher, in
 * one process at a time, turns marks into work for each consumer. Workers claim it.
 *
 * Work and dead letters of a deleted or expired session may remain until somebody finds them.
 */
export interface ConsumerStore {
  /** Stores a new consumer. Returns the stored one if there is one of this name. */
  register(name: string, settings: string): Promise<StoredConsumer>;
  /** All consumers. */
  list(): Promise<StoredConsumer[]>;
  /** Removes at most `limit` entries of a consumer, then the consumer. Returns whether all is removed. */
  remove(name: string, limit: number): Promise<boolean>;
  /** The names of all apps that have sessions, and perhaps of some that had, ordered by their bytes. */
  apps(): Promise<string[]>;
  /** Sessions whose events wait to be dispatched; the longest wait first, as far as the store knows it. */
  changed(limit: number): Promise<ChangedSession[]>;
  /**
   * Adds work, then notes that the sessions are dispatched (`markAfterDispatch`); in this order, if not in one step. Returns
   * `false`, and does nothing, if the settings have changed or, in a store with several steps, if a later token has
   * been seen. Sessions that are locked, changed or gone are left out.
   */
  dispatch(request: DispatchRequest): Promise<boolean>;
  /** Claims due work, oldest first: see `claimedEntry`. */
  claim(request: ClaimRequest): Promise<WorkEntry[]>;
  /** Notes the progress of a claimed entry, and stores the letter, if any: see `entryAfter` and `letterOf`. */
  note(entry: WorkEntry, progress: WorkProgress): Promise<NoteOutcome>;
  /** At most so many dead letters, in any order. */
  deadLetters(consumer: string, limit: number): Promise<WorkEntry[]>;
  /** Makes a dead letter due (`revivedLetter`), or removes it. Returns `false` if it is not a dead letter any more. */
  resolve(letter: WorkEntry, how: 'retry' | 'drop'): Promise<boolean>;
  lag(consumer: string): Promise<StoredLag>;
}
