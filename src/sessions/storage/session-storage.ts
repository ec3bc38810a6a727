import type { AppendOutcome, Commit, StoredEvent, Upsert, Removal } from '../domain/stored/commit.js';
import type { GroupSearch } from '../domain/event/event-group.js';
import type { Lifetime, Lifetimes } from '../domain/values/expiry.js';
import type { SessionKey, StateOwner, UserKey } from '../domain/values/ids.js';
import type { PartialOutcome, PartialWrite } from '../domain/stored/partial-event.js';
import type { InitialLog, SessionRecord } from '../domain/stored/session-record.js';
import type { MetadataText } from '../domain/metadata/metadata-entries.js';
import type { SeqRange } from '../domain/values/seq-ranges.js';
import type { StateLimits } from '../domain/stored/state-size.js';
import type { TurnOutcome, TurnRequest } from '../domain/stored/turn.js';
import type { ModelUsage } from '../domain/usage/usage.js';
import type { UsageQuery } from '../domain/usage/usage-periods.js';
import type { ComponentStore } from './component-store.js';
import type { Agenda, ConsumerStore, LeaseStore } from './coordination.js';
import type { DeleteRequest, TouchRequest } from './delete-and-touch.js';
import type { EntryStore } from './entry-store.js';
import type { GroupedEvents, GroupedEventsRequest, RebuildRequest } from './rebuild.js';
import type { ChangeFeed, LogTail, TailRequest } from './session-changes.js';
import type { SearchIndex } from './search-index.js';
import type { ListRequest, ListResult } from './session-list.js';
import type { SharedScope, StateEntries, StoredState } from './state-entries.js';
import type { RestoreEventsRequest, TransferStore } from './transfer-store.js';
import type { AuditPage, AuditRequest } from './store-audit.js';

export type { DeleteRequest, TouchRequest } from './delete-and-touch.js';
export type {
  ListedSession,
  ListFilter,
  ListOrder,
  ListOrderBy,
  ListPosition,
  ListRequest,
  ListResult,
} from './session-list.js';
export type { OwnState, SharedScope, StateEntries, StoredState } from './state-entries.js';

/** The session to create. */
export interface CreateRequest {
  readonly key: SessionKey;
  /** The initial state of the session's own scope as one JSON object. Folding the log starts from it. */
  readonly baseState: string;
  readonly upserts: readonly Upsert[];
  readonly expiry: Lifetimes;
  /** How large the state of each scope may become, and may be to be returned. Default: any size. See `stateExcess`. */
  readonly maxStateBytes?: StateLimits | undefined;
  /** Default: none. */
  readonly metadata?: MetadataText | undefined;
  /** The initial log, stored together with the session. Default: empty. */
  readonly log?: InitialLog | undefined;
  /** Whether events need a turn. Default `false`. */
  readonly turnsOnly?: boolean | undefined;
}

/** A transaction of the app: TypeORM's `EntityManager`, as `dataSource.transaction()` passes it. */
export interface AppTransaction {
  readonly queryRunner?: object | undefined;
}

/** The transaction of an append, and what follows its commit. */
export interface AppendWithin {
  /** Not checked yet. */
  readonly transaction: unknown;
  /** Called after the commit if the events are stored, and never after a rollback. */
  readonly onStored: (outcome: AppendOutcome) => void;
  /** Called after the commit if the store could not find out whether the events are stored. */
  readonly onError: (error: unknown) => void;
}

/** Which events of a log to read. Default: all. */
export interface EventWindow {
  /** Skips events that the current summary covers. */
  readonly inView?: boolean;
  /** Only events after this one. */
  readonly afterSeq?: number | undefined;
  /** Only these ranges, ascending and not adjacent. */
  readonly ranges?: readonly SeqRange[] | undefined;
  /** Skips the beginning of the log, up to where its high water first reaches this time. */
  readonly since?: number | undefined;
  /** The same, with the time as an age by the store's clock. */
  readonly maxAgeMs?: number | undefined;
  /** Only anchors: events at which a view may begin. */
  readonly anchorsOnly?: boolean;
  /** Maximum number of events. */
  readonly limit?: number | undefined;
  /** Which end the limits keep. Default: newest. The result is always in ascending order. */
  readonly keep?: 'newest' | 'oldest' | undefined;
  /**
   * Ends the window early, after at least one event, if the payloads together have more bytes than this. Then `isCut` is set.
   * It keeps large events out of memory: a store need not count exactly, and may read 64 events before it does.
   */
  readonly maxBytes?: number | undefined;
}

/** What to read of a session. The record is always returned. */
export interface ReadRequest {
  readonly key: SessionKey;
  /** Events to read. Default: none. */
  readonly window?: EventWindow | undefined;
  /** Whether to read the state of all scopes. */
  readonly withState?: boolean;
  /** How large the state of each scope may be to be read; if one has more, the read throws `readExcessError`. Default: any size. */
  readonly maxStateBytes?: StateLimits | undefined;
  /** Whether to read the metadata. */
  readonly withMetadata?: boolean;
  /** Whether to read the current summary. */
  readonly withSummary?: boolean;
  /** Whether to read the base state. */
  readonly withBase?: boolean;
  /** Reads the newest checkpoint at or before this event. */
  readonly checkpointAt?: number | undefined;
  /** Whether to read {@link StoredSession.sharedWrites}. */
  readonly withSharedWrites?: boolean;
  /** Finds an event of a group. */
  readonly find?: GroupSearch | undefined;
}

/** A stored session, with the requested parts. */
export interface StoredSession {
  readonly record: SessionRecord;
  /** The store's time of this read. */
  readonly now: number;
  /** In ascending order. A store may return more events than requested, never fewer. Trimmed events have no payload. */
  readonly events: readonly StoredEvent[];
  /** Whether the window may have more events than these, because of its `maxBytes`. */
  readonly isCut?: boolean | undefined;
  readonly state?: StoredState;
  /** When the shared scopes expire, if they exist. */
  readonly scopeExpiry?: { readonly user?: number; readonly app?: number };
  readonly metadata?: MetadataText;
  /**
   * The keys of shared scopes that events of this session set and did not remove, with the values that they gave. Missing
   * if the store cannot tell; then the log is read.
   */
  readonly sharedWrites?: Pick<StoredState, 'user' | 'app'>;
  readonly summary?: StoredEvent;
  readonly baseState?: string;
  /** The requested checkpoint, if there is one. */
  readonly checkpoint?: StoredCheckpoint;
  /** The `seq` of the event to find, or 0 if there is none. Missing if the store cannot tell; then the log is read. */
  readonly found?: number | undefined;
}

/** What follows from the log up to an event, so that no earlier event has to be read. */
export interface StoredCheckpoint {
  /** The event: a multiple of `CHECKPOINT_EVERY`. */
  readonly seq: number;
  /** Opaque. */
  readonly text: string;
}

/** A checkpoint to keep. */
export interface CheckpointRequest extends StoredCheckpoint {
  readonly key: SessionKey;
  readonly incarnation: string;
}

/** How much of the beginning of a log to trim. */
export interface TrimRequest {
  readonly key: SessionKey;
  readonly incarnation: string;
  /** The current `firstSeq`: of two concurrent trims, one succeeds. */
  readonly firstSeq: number;
  /** The current `marksSeq`: protects events that a concurrent rewind made visible again. */
  readonly marksSeq: number;
  /** The new `firstSeq`. Payloads below it are removed; ids stay. */
  readonly newFirstSeq: number;
  /** Of the events from `firstSeq` to before `newFirstSeq`: what they are recognised by without their payloads. Opaque. */
  readonly digests: readonly string[];
  /** The session's own state before `newFirstSeq`. */
  readonly baseState: string;
}

/** Changes of shared state. */
export interface WriteStateRequest {
  readonly owner: StateOwner;
  readonly upserts: readonly Upsert[];
  readonly removals: readonly Removal[];
  readonly lifetime: Lifetime;
  /** How large the state may become. Default: any size. See `stateExcess`. */
  readonly maxStateBytes?: StateLimits | undefined;
}

/** The answer to several {@link UsageQuery}s. */
export interface UsageReply {
  /** The store's time of this read, by which it understood `day` and `month`. */
  readonly now: number;
  /** For each query the sums by model, in any order; undefined for a session that does not exist. */
  readonly found: readonly (readonly ModelUsage[] | undefined)[];
}

/** The number of removed items of each kind. */
export interface PurgeCounts {
  readonly sessions: number;
  readonly userStates: number;
  readonly appStates: number;
}

/**
 * What services use of a store, with all rules of sessions. `DecidingStorage` implements it over a `SessionStore`, which is what a provider
 * writes. Text is opaque, times come from the store's clock, expired data is never returned, and each method is atomic.
 *
 * User state and app state exist while they hold a key: removing the last key removes their expiry.
 *
 * The contract suite of `nestjs-agent-sessions/testing` proves an implementation.
 *
 * @example
 * const storage: SessionStorage = new InMemorySessionStorage();
 * const outcome = await storage.append(commit);
 */
export interface SessionStorage {
  /** What leases, the agenda, the work of consumers and the state of components are made of. */
  readonly entries: EntryStore;
  /** Leases for work that one instance at a time may do: a cleanup, a summary, a turn. */
  readonly leases: LeaseStore;
  /** Durable list of work that is due later. */
  readonly agenda: Agenda;
  /** What durable consumers note. */
  readonly consumers: ConsumerStore;
  /** The state of components, beside sessions. Optional: `ComponentsModule` needs it. */
  readonly components?: ComponentStore | undefined;
  /**
   * Whether events stay in this process, so that they come back as they were given. Then commits have them as `KeptEvent`s unless they
   * are large: keep these instead of their `payload`, which is made each time that it is read.
   */
  readonly isInProcess?: boolean | undefined;
  /** Whether the store has to read the texts that it is given, so that they cannot be encrypted. */
  readonly readsTexts?: boolean | undefined;
  /** Whether lists cannot be filtered by status, tags and labels. */
  readonly hidesLabels?: boolean | undefined;
  /** Whether the store removes expired data by itself, without {@link purgeExpired}. */
  readonly cleansUpByItself?: boolean | undefined;
  /** Announces changes by other processes. Without it, watches poll. */
  readonly feed?: ChangeFeed | undefined;
  /** Takes over sessions of other stores, and erases users. */
  readonly transfer?: TransferStore | undefined;
  /** Finds events by their words. Optional: without it, a search reads logs. */
  readonly search?: SearchIndex | undefined;
  /** Answers reads that may be a little old. Optional. */
  readonly replica?: StorageReplica | undefined;
  /**
   * Creates a session, and replaces an expired one of the same id. Returns `undefined` if a live one exists. The result
   * contains state and metadata, but no events. Creates nothing, and throws `readExcessError` if the state of the user or the app is
   * too large already, or `writeExcessError` if the state of a scope would be.
   */
  create(request: CreateRequest): Promise<StoredSession | undefined>;
  /** Writes all parts of a commit, unless its preconditions or a limit refuse it. */
  append(commit: Commit): Promise<AppendOutcome>;
  /**
   * Writes a commit inside a transaction that the app has opened and will end. Optional. Throws `InvalidInputError` for
   * anything but an open transaction of its own database.
   */
  readonly appendWithin?: ((commit: Commit, within: AppendWithin) => Promise<AppendOutcome>) | undefined;
  /** Begins, renews or ends the turn of a session, and changes nothing else. */
  turn(request: TurnRequest): Promise<TurnOutcome>;
  /**
   * Saves a piece of an answer under its turn, beside the log. A commit that completes the answer removes it (`endsPartials`), and so do
   * rewinds, the end of the session, and time. Changes no record and renews no session. Those of many sessions that are saved at once
   * share messages. Watches in other processes learn of it through the feed of the store. After an unknown outcome, save it again.
   */
  savePartial(write: PartialWrite): Promise<PartialOutcome>;
  /** Reads a live session with the requested parts, as one consistent snapshot. */
  read(request: ReadRequest): Promise<StoredSession | undefined>;
  /**
   * Reads what is new in many logs, in the given order; `undefined` for a session that is missing, expired or another incarnation. Where
   * nothing of the events and partial events is wanted, none is read.
   */
  tails(logs: readonly TailRequest[]): Promise<readonly (LogTail | undefined)[]>;
  /** A page of live sessions, in the requested order. */
  list(request: ListRequest): Promise<ListResult>;
  /** Renews lifetimes of live data. */
  touch(request: TouchRequest): Promise<void>;
  /** Replaces payloads by digests, and removes checkpoints before `newFirstSeq - 1`, if the session is as expected. */
  trim(request: TrimRequest): Promise<void>;
  /**
   * Keeps a checkpoint until the session is deleted or expires, or until a trim removes its event and the one after it:
   * until `firstSeq > seq + 1`. Does nothing if that is so already, if the session is of another incarnation, or if it has
   * a checkpoint of this event. Neither renews the session nor changes its record.
   */
  saveCheckpoint(request: CheckpointRequest): Promise<void>;
  /**
   * Adds events to the end of a log with the times that they had in another store. Changes `lastSeq` and the high-water mark of the
   * record, nothing else. Returns `false`, and does nothing, if the session is missing or not as expected.
   */
  restoreEvents(request: RestoreEventsRequest): Promise<boolean>;
  /** Deletes the session with all its events and its own state; shared state stays. */
  delete(request: DeleteRequest): Promise<void>;
  /**
   * Reads shared state. Renews its lifetime if due (`isRenewalDue`); a failed renewal does not fail the read. Throws
   * `readExcessError` for state that is larger than its scope may be.
   */
  readState(owner: StateOwner, renew?: Lifetime, maxStateBytes?: StateLimits): Promise<StateEntries>;
  /** Reads shared state with its expiry, and renews nothing. */
  readScope(owner: StateOwner): Promise<SharedScope>;
  /** Changes shared state, and returns all of it. Throws `writeExcessError`, and changes nothing, if `stateExcess` refuses it. */
  writeState(request: WriteStateRequest): Promise<StateEntries>;
  /** Reads sums of usage. Those of a session are removed with it. Those of users and apps stay until they expire. */
  readUsage(queries: readonly UsageQuery[]): Promise<UsageReply>;
  /** Removes at most `limit` expired items of each kind. Also removes expired leases and usage, uncounted, unless the server does. */
  purgeExpired(limit: number): Promise<PurgeCounts>;
  /**
   * Examines a part of the store for what no other method shows: data without its session, and indexes that are not whole.
   * Optional. Others may write meanwhile, so a store looks twice before it reports what a running write can cause.
   */
  readonly audit?: ((request: AuditRequest) => Promise<AuditPage>) | undefined;
  /**
   * Replaces what follows from the log and is stored beside it, or damaged texts, for repairs. Does not change the record. Returns
   * `false`, and does nothing, if the session is missing or not as expected, or if nothing is stored beside the log.
   */
  rebuild(request: RebuildRequest): Promise<boolean>;
  /**
   * How the index finds events by group, for checks. `undefined` if there is no such session, or if its index is not used, because an older version
   * wrote some of its events. Optional.
   */
  readonly groupedEvents?:
    ((request: GroupedEventsRequest) => Promise<readonly GroupedEvents[] | undefined>) | undefined;
  /**
   * What about the servers of the store endangers data and needs the operator, one sentence each. For logs and health checks. Optional.
   */
  readonly warnings?: (() => Promise<readonly string[]>) | undefined;
  /** Closes the store. Later calls fail with a `StoreUnavailableError`. */
  close(): Promise<void>;
}

/** A copy of a store that follows it, for reads that may be a little old. */
export interface StorageReplica {
  /** What the copy has. Nothing is written to it. */
  readonly storage: SessionStorage;
  /**
   * Whether it is known to be young enough, and to have all that this process has written for this user. Without a user, what this process
   * wrote does not count.
   */
  isUsable(owner: Partial<UserKey>): boolean;
  /** A read from it failed. It is not used until it answers again. */
  failed(error: unknown): void;
}
