import type { Lifetime } from '../domain/values/expiry.js';
import type { SessionKey, StateOwner } from '../domain/values/ids.js';
import type { StateLimits } from '../domain/stored/state-size.js';
import type { SessionRecord } from '../domain/stored/session-record.js';
import type { StateText } from '../domain/stored/state-text.js';
import type { UsageQuery } from '../domain/usage/usage-periods.js';
import type { SessionMarks } from './coordination.js';
import type { EntryStore } from './entry-store.js';
import type { LocalWriteStore, WriteStore } from './planned-write.js';
import type { LogTail, TailRequest } from './session-changes.js';
import type {
  CreateRequest,
  ListRequest,
  ListResult,
  PurgeCounts,
  ReadRequest,
  SessionStorage,
  SharedScope,
  StateEntries,
  StoredSession,
  UsageReply,
  WriteStateRequest,
} from './session-storage.js';

/** A session as a store read it. */
export interface StampedSession {
  readonly session: StoredSession;
  /** See {@link SessionHead}. */
  readonly stamp: number;
  readonly stateText: StateText | undefined;
}

/** A session to create, with what is decided about it. */
export interface NewSessionRequest extends CreateRequest {
  /** The record of the session if this is the store's time. It has no incarnation yet: the store gives it one. */
  readonly recordAt: (now: number) => SessionRecord;
  /** Its own state if it is kept as one text, instead of key by key. A store in this process may keep it key by key. */
  readonly stateText: StateText | undefined;
}

/** The session to delete. Nothing is deleted if it is another one by now. */
export interface DeletedSession extends SessionKey {
  readonly incarnation?: string | undefined;
  /** The stamp that it must have. Default: any. */
  readonly stamp?: number | undefined;
}

/** Parts that are the same in the store and in the storage over it. */
type CommonParts = Pick<
  SessionStorage,
  'isInProcess' | 'cleansUpByItself' | 'feed' | 'transfer' | 'audit' | 'groupedEvents'
>;

/**
 * What a provider implements. It stores and fetches; it compares and writes; it decides nothing. Text is opaque, times come from the
 * store's clock, expired data is never returned, and each method is atomic. `DecidingStorage` makes a `SessionStorage` of it, with
 * all rules.
 *
 * User state and app state exist while they hold a key: removing the last key removes their expiry.
 *
 * The contract suite of `nestjs-agent-sessions/testing` proves an implementation.
 *
 * @example
 * class MyStorage extends DecidingStorage<MyStore> {
 *   constructor(options: MyOptions) {
 *     super(new MyStore(options));
 *   }
 * }
 */
export interface SessionStore extends CommonParts {
  /** What leases, the agenda, the consumers with their work, and the state of components are made of. */
  readonly entries: EntryStore;
  readonly marks: SessionMarks;
  readonly writes: WriteStore | LocalWriteStore;
  /** See {@link SessionStorage.create}. */
  create(request: NewSessionRequest): Promise<StampedSession | undefined>;
  /** See {@link SessionStorage.read}. */
  read(request: ReadRequest): Promise<StampedSession | undefined>;
  /** See {@link SessionStorage.tails}. */
  tails(logs: readonly TailRequest[]): Promise<readonly (LogTail | undefined)[]>;
  /** See {@link SessionStorage.list}. */
  list(request: ListRequest): Promise<ListResult>;
  /** Deletes the session with all its events and its own state; shared state stays. Returns whether it is gone. */
  delete(request: DeletedSession): Promise<boolean>;
  /** See {@link SessionStorage.readState}. */
  readState(owner: StateOwner, renew?: Lifetime, maxStateBytes?: StateLimits): Promise<SharedScope>;
  /** See {@link SessionStorage.writeState}. */
  writeState(request: WriteStateRequest): Promise<StateEntries>;
  /**
   * Reads sums of users and apps. Each write adds its `usage` to `storedPeriods` of both (`isPartOf`). Without queries, it says the
   * store's time.
   */
  readUsage(queries: readonly UsageQuery[]): Promise<UsageReply>;
  /** See {@link SessionStorage.purgeExpired}. */
  purgeExpired(limit: number): Promise<PurgeCounts>;
  /** Called after all writes have ended. Later calls fail with a `StoreUnavailableError`. */
  close(): Promise<void>;
}
