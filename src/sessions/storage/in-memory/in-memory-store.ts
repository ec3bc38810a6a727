import { checkedClock } from '../../domain/process/checked-clock.js';
import type { Clock } from '../../domain/process/clock.js';
import { type Lifetime, isExpired } from '../../domain/values/expiry.js';
import { type SessionKey, type StateOwner, type UserKey, scopeOfOwner } from '../../domain/values/ids.js';
import { remembered } from '../remembered.js';
import { newStamp } from '../../domain/values/stamp.js';
import { type StateLimits, writeExcessError } from '../../domain/stored/state-size.js';
import type { UsageQuery } from '../../domain/usage/usage-periods.js';
import type { LogTail, TailRequest } from '../session-changes.js';
import type {
  ListRequest,
  ListResult,
  ListedSession,
  PurgeCounts,
  ReadRequest,
  SharedScope,
  StateEntries,
  StoredState,
  UsageReply,
  WriteStateRequest,
} from '../session-storage.js';
import type { LocalWriteStore } from '../planned-write.js';
import type { DeletedSession, NewSessionRequest, SessionStore, StampedSession } from '../session-store.js';
import type { TransferStore } from '../transfer-store.js';
import { EventLog } from './event-log.js';
import { InMemoryEntries } from './in-memory-entries.js';
import { InMemoryMarks } from './in-memory-marks.js';
import { InMemoryPartials } from './in-memory-partials.js';
import { InMemoryTransfer } from './in-memory-transfer.js';
import { InMemoryWrites } from './in-memory-writes.js';
import { ScopeState, type ShownScopes, excessIn, storedState, writtenEntries } from './scope-state.js';
import { SessionIndex, type StoredEntry } from './session-index.js';
import { SharedStates } from './shared-states.js';
import { readLogTail } from './log-tail.js';
import { type Snapshot, createSnapshot } from './snapshot.js';
import { UsageSums } from './usage-sums.js';
import { storeClosed } from '../../domain/errors/store-closed.js';
import { sharedOwnersOf } from '../state-owners.js';

const NO_EVENTS = { events: [] };
const NO_STATE: StoredState = { session: [], user: [], app: [] };

/** Sessions in `Map`s and arrays. */
export class InMemoryStore implements SessionStore {
  readonly isInProcess = true;
  readonly #clock: Clock;
  readonly #now = (): number => {
    if (this.#isClosed) throw storeClosed();
    return this.#clock.now();
  };
  readonly #sessions = new SessionIndex();
  readonly #shared = new SharedStates();
  readonly #usage = new UsageSums();
  readonly entries = new InMemoryEntries(this.#now);
  readonly marks = new InMemoryMarks(this.#sessions, this.#now);
  readonly partials = new InMemoryPartials();
  readonly transfer: TransferStore = new InMemoryTransfer({
    sessions: this.#sessions,
    shared: this.#shared,
    usage: this.#usage,
    now: this.#now,
    remove: (entry) => this.#remove(entry),
  });
  readonly writes: LocalWriteStore = new InMemoryWrites({
    sessions: this.#sessions,
    shared: this.#shared,
    usage: this.#usage,
    marks: this.marks,
    partials: this.partials,
    now: this.#now,
  });
  #incarnations = 0;
  #isClosed = false;

  constructor({ clock }: { clock?: Clock | undefined } = {}) {
    this.#clock = checkedClock(clock);
  }

  async create(request: NewSessionRequest): Promise<StampedSession | undefined> {
    const { key, baseState, upserts, expiry, metadata = '', log, maxStateBytes } = request;
    const now = this.#now();
    const before = this.#sessions.get(key);
    if (before && !isExpired(before.record.expiresAt, now)) return undefined;
    const writes = { upserts, removals: [] };
    const state = new ScopeState('session', key);
    const scopes = this.#scopesOf(key, state, now);
    for (const scope of scopes) scope.expectReadable(maxStateBytes);
    const excess = excessIn(scopes, writes, maxStateBytes);
    if (excess) throw writeExcessError(excess);
    if (before) this.#remove(before);
    state.write(writes);
    // The initial state is no event.
    for (const owner of sharedOwnersOf(key)) {
      const scope = scopeOfOwner(owner);
      this.#shared.write(owner, writtenEntries(scope, writes), expiry[scope], now);
    }
    const incarnation = String(++this.#incarnations);
    const record = { ...request.recordAt(now), incarnation };
    const sharedWrites = log ? undefined : {};
    const stamp = newStamp();
    const entry = {
      record,
      stamp,
      baseState,
      metadata,
      state,
      sharedWrites,
      log: EventLog.from(record.firstSeq, log?.events),
      checkpoints: [],
    };
    this.#sessions.put(entry);
    this.marks.noteChange(entry);
    const session = { record, now, events: [], metadata, state: storedState(this.#scopesOf(key, state, now)) };
    return { session, stamp, stateText: undefined };
  }

  async read(request: ReadRequest): Promise<StampedSession | undefined> {
    const now = this.#now();
    const entry = this.#live(request.key, now);
    if (!entry) return undefined;
    const { record, log, baseState, sharedWrites } = entry;
    const scopes = request.withState ? this.#scopesOf(record, entry.state, now) : undefined;
    for (const scope of scopes ?? []) scope.expectReadable(request.maxStateBytes);
    const summary = request.withSummary ? log.at(record.marks.summarySeq) : undefined;
    const { checkpointAt } = request;
    const checkpoint =
      checkpointAt === undefined ? undefined : entry.checkpoints.findLast(({ seq }) => seq <= checkpointAt);
    const session = {
      record,
      now,
      ...(request.window ? log.window(request.window, record, now) : NO_EVENTS),
      ...(scopes && { state: storedState(scopes), scopeExpiry: this.#shared.expiryOf(record, now) }),
      ...(request.withMetadata && { metadata: entry.metadata }),
      ...(summary && { summary }),
      ...(request.withSharedWrites &&
        sharedWrites && {
          sharedWrites: { user: sharedWrites.user?.entries() ?? [], app: sharedWrites.app?.entries() ?? [] },
        }),
      ...(request.withBase && { baseState }),
      ...(checkpoint && { checkpoint }),
      ...(request.find && { found: log.findInGroup(request.find) }),
    };
    return { session, stamp: entry.stamp, stateText: undefined };
  }

  async tails(logs: readonly TailRequest[]): Promise<(LogTail | undefined)[]> {
    const now = this.#now();
    return logs.map((log) => {
      const entry = this.#live(log.key, now);
      return entry && readLogTail(entry, log, now);
    });
  }

  async list(request: ListRequest): Promise<ListResult> {
    const now = this.#now();
    const { maxBytes = Infinity, withState = true, maxStateBytes } = request;
    const { items, ...rest } = this.#sessions.page(request, now);
    // Sessions of a user share what is found.
    const sharedOf = remembered((userId: string) => this.#shared.ofUser({ ...request, userId }, now));
    const entriesOf = remembered((state: ScopeState) => state.entries());
    const sessions: ListedSession[] = [];
    let size = 0;
    for (const { record, metadata, state } of items) {
      size += metadata.length;
      let shown = NO_STATE;
      if (withState) {
        const [user, app] = sharedOf(record.userId);
        for (const scope of [state, user, app]) {
          scope.expectReadable(maxStateBytes);
          size += scope.bytes;
        }
        shown = { session: state.entries(), user: entriesOf(user), app: entriesOf(app) };
      }
      if (sessions.length > 0 && size > maxBytes) return { ...rest, sessions, examinedTo: undefined, isCut: true };
      sessions.push({ record, metadata, state: shown });
    }
    return { sessions, ...rest };
  }

  async delete({ incarnation, stamp, ...key }: DeletedSession): Promise<boolean> {
    this.#now();
    const entry = this.#sessions.get(key);
    if (!entry || (incarnation ?? entry.record.incarnation) !== entry.record.incarnation) return true;
    if (stamp !== undefined && stamp !== entry.stamp) return false;
    this.#remove(entry);
    return true;
  }

  async readState(owner: StateOwner, renew?: Lifetime, maxStateBytes?: StateLimits): Promise<SharedScope> {
    const now = this.#now();
    const state = this.#shared.get(owner, now);
    state.expectReadable(maxStateBytes);
    if (renew) this.#shared.renewIfDue(owner, renew, now);
    return { entries: state.entries(), expiresAt: this.#shared.expiryOfOwner(owner, now) };
  }

  async writeState({ owner, lifetime, maxStateBytes, ...writes }: WriteStateRequest): Promise<StateEntries> {
    const now = this.#now();
    const state = this.#shared.get(owner, now);
    const excess = state.excessAfter(writes, maxStateBytes);
    if (excess) throw writeExcessError(excess);
    this.#shared.write(owner, writtenEntries(scopeOfOwner(owner), writes), lifetime, now);
    const after = this.#shared.get(owner, now);
    after.expectReadable(maxStateBytes, true);
    return after.entries();
  }

  async readUsage(queries: readonly UsageQuery[]): Promise<UsageReply> {
    const now = this.#now();
    return { now, found: queries.map((query) => this.#usage.read(query, now)) };
  }

  async purgeExpired(limit: number): Promise<PurgeCounts> {
    const now = this.#now();
    this.entries.purge(limit, now);
    this.partials.purge(now);
    this.#usage.purge(limit, now);
    const expired = this.#sessions.expired(limit, now);
    for (const entry of expired) this.#remove(entry);
    return { sessions: expired.length, ...this.#shared.purge(limit, now) };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const { entries, marks, partials } = this;
    const parts = [this.#sessions, this.#shared, this.#usage, entries, marks, partials];
    for (const part of parts) part.clear();
  }

  /** The current content, including expired data; for tests and diagnosis. */
  snapshot(): Snapshot {
    return createSnapshot([...this.#sessions.all()], this.#shared.all(), [this.#usage.all(), this.entries.all()]);
  }

  #remove(entry: StoredEntry): void {
    this.#sessions.remove(entry);
    this.marks.forget(entry);
    this.partials.forget(entry);
  }

  #live(key: SessionKey, now: number): StoredEntry | undefined {
    const entry = this.#sessions.get(key);
    return entry && !isExpired(entry.record.expiresAt, now) ? entry : undefined;
  }

  #scopesOf(key: UserKey, own: ScopeState, now: number): ShownScopes {
    return [own, ...this.#shared.ofUser(key, now)];
  }
}
