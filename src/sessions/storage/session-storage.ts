import type { AppendOutcome, Commit, StoredEvent, Upsert, Removal } from '../domain/commit.js';
import type { Lifetime, Lifetimes } from '../domain/expiry.js';
import type { SessionKey, StateOwner } from '../domain/ids.js';
import type { InitialLog } from '../domain/initial-log.js';
import type { SeqRange } from '../domain/seq-ranges.js';
import type { SessionRecord } from '../domain/session-record.js';
import type { Agenda } from './agenda.js';
import type { LeaseStore } from './lease-store.js';
import type { SessionChanges } from './session-changes.js';

/** State keys of one scope, without their prefix, and their values as JSON text. */
export type StateEntries = readonly (readonly [name: string, value: string])[];

/** The state that a session shows, scope by scope. */
export interface StoredState {
  readonly session: StateEntries;
  readonly user: StateEntries;
  readonly app: StateEntries;
}

/** A session to be made. */
export interface CreateRequest {
  readonly key: SessionKey;
  /** The initial state of the session's own scope as one JSON object, for whoever folds the log later. */
  readonly baseState: string;
  readonly upserts: readonly Upsert[];
  readonly expiry: Lifetimes;
  /** The log to begin with, which is stored together with the session; an empty one unless given. */
  readonly log?: InitialLog | undefined;
}

/** Which events of a log to read. Without any limit: all of them. */
export interface EventWindow {
  /** Only what a view may need: nothing that the summary in force stands for. */
  readonly inView?: boolean;
  /** Only events after this one. */
  readonly afterSeq?: number | undefined;
  /** Only these stretches, which are in order and do not touch. */
  readonly ranges?: readonly SeqRange[] | undefined;
  /** Leaves out the beginning of the log up to where its high water first reaches this time. */
  readonly since?: number | undefined;
  /** The same, with the time given as an age by the store's own clock. */
  readonly maxAgeMs?: number | undefined;
  /** Only events at which a view may begin. */
  readonly anchorsOnly?: boolean;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** Which end the limit keeps, the newest unless said otherwise; the answer is in ascending order either way. */
  readonly keep?: 'newest' | 'oldest' | undefined;
}

/** What to read of a session; the record is always answered. */
export interface ReadRequest {
  readonly key: SessionKey;
  /** Events to read; without it none are. */
  readonly window?: EventWindow | undefined;
  /** Whether to read the state of all scopes as well. */
  readonly withState?: boolean;
  /** Whether to read the summary in force as well. */
  readonly withSummary?: boolean;
  /** Whether to read the base state as well. */
  readonly withBase?: boolean;
}

/** A session as a store holds it, with what was asked for of it. */
export interface StoredSession {
  readonly record: SessionRecord;
  /** The store's time of this read. */
  readonly now: number;
  /** In ascending order. A store may return more than the window asks for, never less. */
  readonly events: readonly StoredEvent[];
  readonly state?: StoredState;
  /** When the shared scopes expire, where they exist. */
  readonly scopeExpiry?: { readonly user?: number; readonly app?: number };
  readonly summary?: StoredEvent;
  readonly baseState?: string;
}

/** The time by which a list is sorted. */
export type ListOrderBy = 'lastUpdateTime' | 'createTime';
/** Oldest or newest first. */
export type ListOrder = 'asc' | 'desc';

/** A place between two sessions of a list. Ties in time are broken by user id, then session id, byte for byte. */
export interface ListPosition {
  readonly time: number;
  readonly userId: string;
  readonly sessionId: string;
}

/** Which page of which list. */
export interface ListRequest extends StateOwner {
  readonly orderBy: ListOrderBy;
  readonly order: ListOrder;
  readonly limit: number;
  readonly after?: ListPosition | undefined;
  readonly offset?: number | undefined;
  /** Whether to count all sessions of the list. */
  readonly withTotal?: boolean;
}

/** A session in a list: its record and its state, no events. */
export interface ListedSession {
  readonly record: SessionRecord;
  readonly state: StoredState;
}

/** A page of a list. */
export interface ListResult {
  readonly sessions: readonly ListedSession[];
  /** Of the whole list, where that was asked for. */
  readonly total?: number;
}

/** What to keep alive. */
export interface TouchRequest {
  readonly key: SessionKey;
  readonly incarnation: string;
  /** What to renew; scopes left out stay as they are. Nothing that expired comes back. */
  readonly renew: { readonly session?: Lifetime; readonly user?: Lifetime; readonly app?: Lifetime };
}

/** How much of the beginning of a log to forget. */
export interface TrimRequest {
  readonly key: SessionKey;
  readonly incarnation: string;
  /** What `firstSeq` is now: of two that trim, one does. */
  readonly firstSeq: number;
  /** What `marksSeq` is now: nothing is trimmed that a rewind made visible again meanwhile. */
  readonly marksSeq: number;
  /** What it becomes: payloads below it go, ids and digests stay. */
  readonly newFirstSeq: number;
  /** The session's own state folded up to there. */
  readonly baseState: string;
}

/** What to change in the state that sessions share. */
export interface WriteStateRequest {
  readonly owner: StateOwner;
  readonly upserts: readonly Upsert[];
  readonly removals: readonly Removal[];
  readonly lifetime: Lifetime;
}

/** How much was removed, of each kind. */
export interface PurgeCounts {
  readonly sessions: number;
  readonly userStates: number;
  readonly appStates: number;
}

/**
 * What a provider implements: it stores and fetches, and decides nothing. Text is opaque, times are the
 * store's own, whatever expired is missing from every answer at once, and each method is atomic.
 *
 * A user's state and an app's are there while they hold a key: the removal of the last one takes their expiry along.
 *
 * The contract suite of `nestjs-agent-sessions/testing` proves an implementation.
 *
 * @example
 * // The heart of an append; all of it under one lock, or in one transaction.
 * const refusal = refusalOf(commit, record, eventOfTheSameId, now);
 * if (refusal) return refusal;
 * const after = recordAfter(commit, record, now);
 */
export interface SessionStorage {
  /** What one instance at a time may do: a cleanup, a summary, a turn. Its names have nothing to do with ids. */
  readonly leases: LeaseStore;
  /** What has to be looked at later. Its names have nothing to do with ids either. */
  readonly agenda: Agenda;
  /** Whether nobody has to call {@link purgeExpired} for what expired to go. */
  readonly cleansUpByItself?: boolean;
  /** How watches hear of what others do; without it each of them reads its log every now and then. */
  readonly changes?: SessionChanges;
  /**
   * Makes a new session, in place of an expired one of the same id; `undefined` where a live one exists. The answer
   * holds no events.
   */
  create(request: CreateRequest): Promise<StoredSession | undefined>;
  /** Writes the event, the state and the record of a commit, unless `refusalOf` refuses it. */
  append(commit: Commit): Promise<AppendOutcome>;
  /** A session that is alive, with what is asked for of it, all of one moment. */
  read(request: ReadRequest): Promise<StoredSession | undefined>;
  /** A page of the sessions that are alive, in the order that is asked for. */
  list(request: ListRequest): Promise<ListResult>;
  /** Prolongs what the request names, as far as it is alive. */
  touch(request: TouchRequest): Promise<void>;
  /** Forgets payloads, unless the session no longer is as the request expects (`isAsExpected`). */
  trim(request: TrimRequest): Promise<void>;
  /** Deletes the session with all its events and its own state; shared state stays. */
  delete(key: SessionKey): Promise<void>;
  /** Shared state; `renew` prolongs its life where that is due (`isRenewalDue`) and possible: it is read all the same. */
  readState(owner: StateOwner, renew?: Lifetime): Promise<StateEntries>;
  /** Changes shared state, and answers with all of it. */
  writeState(request: WriteStateRequest): Promise<StateEntries>;
  /** Removes at most `limit` of each kind that expired; leases too, uncounted, where they do not go by themselves. */
  purgeExpired(limit: number): Promise<PurgeCounts>;
  /** Ends what is under way. Every call after it is refused with a `StoreUnavailableError`. */
  close(): Promise<void>;
}
