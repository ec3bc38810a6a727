import type { NoteOutcome, WorkEntry, WorkProgress } from '../domain/background/consumer-work.js';
import type { UserKey } from '../domain/values/ids.js';
import type { SessionRecord } from '../domain/stored/session-record.js';

/** The exclusive right to do the named work, for a limited time. */
export interface Lease {
  readonly name: string;
  /** Informational, for operators; no rule depends on it. */
  readonly holder: string;
  /**
   * The fencing token. A later acquisition of the same name always has a higher one. So the target of the work can
   * refuse late writers: those with a token lower than the highest it has seen.
   */
  readonly token: number;
  /** When the lease ends, by the store's clock. */
  readonly expiresAt: number;
}

/** The lease to acquire. */
export interface LeaseRequest {
  /** Name of the exclusive work: 1 to 400 UTF-8 bytes, compared byte for byte. */
  readonly name: string;
  /** 1 to 191 UTF-8 bytes. */
  readonly holder: string;
  /** Time to live without renewal. */
  readonly ttlMs: number;
}

/** The leases of which to acquire one. */
export interface AnyLeaseRequest extends Omit<LeaseRequest, 'name'> {
  /** 1 to 250 different names. */
  readonly names: readonly string[];
  /** How many of them may be held, this one included. Default: all. Those who ask at once pass the names in the same order. */
  readonly atMost?: number | undefined;
}

/**
 * Leases for work that one instance at a time may do. Each method is atomic and uses the store's clock.
 *
 * Tokens are safe integers that grow with each acquisition of a name, also after its lease was released, expired
 * or purged; no two acquisitions of a name have the same one.
 *
 * If the response of `acquire` is lost, the lease may be taken. Then it stays unused until it expires.
 */
export interface LeaseStore {
  /**
   * Takes a free lease; returns `undefined` if it is held, even by the same holder. So two jobs of one process exclude
   * each other too.
   */
  acquire(request: LeaseRequest): Promise<Lease | undefined>;
  /**
   * Takes the first of these names that is free, in this order; returns `undefined` if all are held. So as many at once may do a work
   * as it has names. Optional: without it, the names are asked for one after the other.
   */
  acquireAny?(request: AnyLeaseRequest): Promise<Lease | undefined>;
  /**
   * Extends a lease from now on. Returns `undefined` if it is released or expired, even if it was not taken since.
   * Never changes another holder's lease.
   */
  renew(lease: Lease, ttlMs: number): Promise<Lease | undefined>;
  /** Releases a lease. Does nothing if the lease is over; a new holder keeps its lease. */
  release(lease: Lease): Promise<void>;
}

/** A name, and when it is due. */
export interface AgendaEntry {
  /** 1 to 800 UTF-8 bytes without U+0000, compared byte for byte. */
  readonly name: string;
  /** By the store's clock, like all times here. */
  readonly dueAt: number;
}

/**
 * A durable list of work that is due later. Entries survive the process that wrote them. Each method is atomic.
 *
 * Entries are not locked. A worker removes an entry after its work, unless the entry was postponed in the meantime. So no entry
 * is lost, and two workers may process the same one.
 *
 * Invalid input is refused with an `InvalidInputError`.
 *
 * @example
 * for (const entry of await storage.agenda.due(100)) {
 *   await lookAt(entry.name);
 *   await storage.agenda.remove(entry);
 * }
 */
export interface Agenda {
  /** Adds a name, due in at most 400 days. An existing entry gets the later of both times. */
  put(name: string, inMs: number): Promise<void>;
  /** Returns due entries, ordered by time, then by name (`compareBytes`). `limit` is 1 to 1,000. Does not remove them. */
  due(limit: number): Promise<AgendaEntry[]>;
  /** Removes an entry, unless its time changed since it was read. */
  remove(entry: AgendaEntry): Promise<void>;
  /** Removes all entries whose names begin with this, due or not. Not one step. */
  removeAll(prefix: string): Promise<void>;
}

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
  /** Identifies the claim: unique text of 1 to 100 bytes, without colon. */
  readonly claim: string;
  readonly limit: number;
  /** The claim is over after this time, unless progress is saved. */
  readonly forMs: number;
}

/** The backlog of a consumer. */
export interface StoredLag {
  /** Sessions with dispatched events that are not handled. */
  readonly sessions: number;
  /** The earliest `since` of them. */
  readonly oldestSince?: number | undefined;
  readonly deadLetters: number;
  readonly now: number;
}

/** Marks of sessions with events that wait for consumers. Appends set them. */
export interface SessionMarks {
  /**
   * By how much the time of an event may be earlier than that of its write, because it was planned by what this process knew of the
   * server's clock. Default: 0.
   */
  readonly lagMs?: number | undefined;
  /** The names of all apps that have sessions, and perhaps of some that had, ordered by their bytes. */
  apps(): Promise<string[]>;
  /** Sessions whose events wait to be dispatched; the longest wait first, as far as the store knows it. */
  changed(limit: number): Promise<ChangedSession[]>;
}

/**
 * What durable consumers need of a store. Appends mark sessions with new events. A dispatcher, in
 * one process at a time, turns marks into work for each consumer. Workers claim it.
 *
 * Work and dead letters of a deleted or expired session may remain until somebody finds them.
 */
export interface ConsumerStore extends Pick<SessionMarks, 'apps' | 'changed'> {
  /** Stores a new consumer. Returns the stored one if there is one of this name. No event that is appended later has an earlier time. */
  register(name: string, settings: string): Promise<StoredConsumer>;
  /** All consumers. */
  list(): Promise<StoredConsumer[]>;
  /** Removes at most `limit` entries of a consumer, then the consumer. Returns whether all is removed. */
  remove(name: string, limit: number): Promise<boolean>;
  /**
   * Adds work, then notes that the sessions are dispatched; see `SessionMarks`. Returns `false`, and does nothing, if the settings have
   * changed or a later token has been seen. Work of consumers that do not exist is left out.
   */
  dispatch(request: DispatchRequest): Promise<boolean>;
  /** Claims due work, oldest first. */
  claim(request: ClaimRequest): Promise<WorkEntry[]>;
  /** Saves the progress of a claimed entry, and stores the dead letter, if any. */
  note(entry: WorkEntry, progress: WorkProgress): Promise<NoteOutcome>;
  /** At most so many dead letters, in any order. */
  deadLetters(consumer: string, limit: number): Promise<WorkEntry[]>;
  /** Makes a dead letter due, or removes it. Returns `false` if it is no longer a dead letter. */
  resolve(letter: WorkEntry, how: 'retry' | 'drop'): Promise<boolean>;
  lag(consumer: string): Promise<StoredLag>;
  /** Removes all work and dead letters on sessions of a user. Not one step. */
  removeWorkOn(user: UserKey): Promise<void>;
}
