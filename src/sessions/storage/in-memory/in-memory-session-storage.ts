import { type Clock, systemClock } from '../../domain/clock.js';
import { isAsExpected, isDeletable, numberedEvents, recordAfter, refusalOf } from '../../domain/commit-rules.js';
import type { AppendOutcome, Commit } from '../../domain/commit.js';
import { StoreUnavailableError } from '../../domain/errors.js';
import { type Lifetime, expiresAt, isExpired } from '../../domain/expiry.js';
import type { SessionKey, StateOwner } from '../../domain/ids.js';
import { metadataAfter } from '../../domain/metadata-entries.js';
import { newRecord } from '../../domain/session-record.js';
import { partialsLeft } from '../../domain/partial-event.js';
import { type StateLimits, sizeAfter, writeExcessError } from '../../domain/state-size.js';
import { turnOutcome } from '../../domain/turn-rules.js';
import type { TurnOutcome, TurnRequest } from '../../domain/turn.js';
import { type UsageQuery, sessionOfUsage } from '../../domain/usage-periods.js';
import type { ComponentStore } from '../component-store.js';
import type { Agenda, ConsumerStore, LeaseStore } from '../coordination.js';
import type { PartialStore } from '../partial-store.js';
import type { RebuildRequest } from '../rebuild.js';
import type { SessionChanges } from '../session-changes.js';
import type {
  CheckpointRequest,
  CreateRequest,
  DeleteRequest,
  ListRequest,
  ListResult,
  ListedSession,
  PurgeCounts,
  ReadRequest,
  SessionStorage,
  StateEntries,
  StoredSession,
  TouchRequest,
  TrimRequest,
  UsageReply,
  WriteStateRequest,
} from '../session-storage.js';
import type { TransferStore } from '../transfer-store.js';
import { checkpointOf, keepCheckpoint } from './checkpoints.js';
import { EventLog } from './event-log.js';
import { InMemoryAgenda } from './in-memory-agenda.js';
import { InMemoryComponentStore } from './in-memory-component-store.js';
import { InMemoryConsumers } from './in-memory-consumers.js';
import { InMemoryLeases } from './in-memory-leases.js';
import { InMemoryPartials } from './in-memory-partials.js';
import { InMemoryTransfer } from './in-memory-transfer.js';
import { positionsOf } from './log-positions.js';
import { rebuildSession } from './rebuild-session.js';
import { ScopeStates } from './scope-states.js';
import { SessionIndex, type StoredEntry } from './session-index.js';
import { SharedWrites } from './shared-writes.js';
import { type Snapshot, snapshotOf } from './snapshot.js';
import { StateLimitChecks } from './state-limit-checks.js';
import { TextSlabs } from './text-slabs.js';
import { ModelSums, UsageSums } from './usage-sums.js';

/** For so many bytes that are freed, a sweep does one step more. */
const BYTES_OF_A_STEP = 1_024;

const NO_STATE = { state: { session: [], user: [], app: [] }, size: 0 };
const NO_EVENTS = { events: [] };

/**
 * Stores sessions in the memory of this process, for development, tests and short-lived agents. Everything is stored
 * as JSON text, so returned objects are never shared with the store.
 *
 * @example
 * const sessions = new SessionService({ storage: new InMemorySessionStorage() });
 */
export class InMemorySessionStorage implements SessionStorage {
  readonly isInProcess = true;
  readonly #clock: Clock;
  readonly #sessions = new SessionIndex();
  readonly #texts = new TextSlabs();
  /** A sweep of the texts, if one runs. */
  #sweep: Iterator<void> | undefined;
  readonly #scopes = new ScopeStates();
  readonly #stateLimits = new StateLimitChecks(this.#scopes);
  readonly #usage = new UsageSums();
  readonly #leases = new InMemoryLeases(() => this.#now());
  readonly #agenda = new InMemoryAgenda(() => this.#now());
  readonly leases: LeaseStore = this.#leases;
  readonly agenda: Agenda = this.#agenda;
  readonly #consumers = new InMemoryConsumers(this.#sessions, () => this.#now());
  readonly consumers: ConsumerStore = this.#consumers;
  readonly #partials = new InMemoryPartials(this.#sessions, () => this.#now());
  readonly partials: PartialStore = this.#partials;
  readonly components: ComponentStore = new InMemoryComponentStore({ clock: { now: () => this.#now() } });
  readonly changes: SessionChanges = {
    positions: async (logs) => positionsOf(logs, (key, now) => this.#live(key, now), this.#now()),
  };
  readonly transfer: TransferStore = new InMemoryTransfer({
    sessions: this.#sessions,
    scopes: this.#scopes,
    usage: this.#usage,
    agenda: this.#agenda,
    now: () => this.#now(),
    remove: (key) => this.#remove(key),
  });
  #incarnations = 0;
  #isClosed = false;

  constructor({ clock = systemClock }: { clock?: Clock | undefined } = {}) {
    this.#clock = clock;
  }

  async create(request: CreateRequest): Promise<StoredSession | undefined> {
    const { key, baseState, upserts, expiry, metadata = '', log, turnsOnly, maxStateBytes } = request;
    const now = this.#now();
    if (this.#live(key, now)) return undefined;
    this.#stateLimits.expectShared(key, maxStateBytes, now);
    const writes = { upserts, removals: [] };
    const sizes = this.#stateLimits.sizesFor(key, { stateBytes: 0, state: new Map() }, writes, maxStateBytes, now);
    if ('most' in sizes) throw writeExcessError(sizes);
    this.#remove(key);
    const stateBytes = sizeAfter(sizes.session, writes, 'session').atMost;
    const incarnation = String(++this.#incarnations);
    const record = newRecord(key, incarnation, now, expiresAt(now, expiry.session), log, turnsOnly, stateBytes);
    const entry: StoredEntry = {
      record,
      baseState,
      metadata,
      state: new Map(),
      sharedWrites: log ? undefined : new SharedWrites(),
      log: new EventLog(this.#texts, log?.events),
      checkpoints: [],
    };
    this.#sessions.put(entry);
    this.#consumers.noteChange(entry);
    // The initial state is no event.
    this.#scopes.write(key, { state: entry.state, sharedWrites: undefined }, writes, expiry, now, sizes);
    return { record, now, events: [], metadata, state: this.#scopes.stateOf(entry, now) };
  }

  async append(commit: Commit): Promise<AppendOutcome> {
    const now = this.#now();
    const entry = this.#live(commit.key, now);
    const seen = commit.events.map(({ id }) => entry?.log.find(id));
    const refusal = refusalOf(commit, entry?.record, seen, now);
    if (refusal) return refusal;
    if (!entry) return { kind: 'missing' };
    const metadata = commit.metadata ? metadataAfter(entry.metadata, commit.metadata) : entry.metadata;
    if (metadata === undefined) return { kind: 'full' };
    const { stateBytes } = entry.record;
    const sizes = this.#stateLimits.sizesFor(
      commit.key,
      { stateBytes, state: entry.state },
      commit,
      commit.maxStateBytes,
      now,
    );
    if ('most' in sizes) return { kind: 'stateFull', excess: sizes };

    const { tipSeq: previousTipSeq } = entry.record;
    for (const event of numberedEvents(commit, entry.record, now)) entry.log.add(event);
    this.#sessions.change(entry, recordAfter(commit, entry.record, now, sizes.session), metadata);
    this.#consumers.noteChange(entry);
    if (entry.partials) entry.partials = partialsLeft(entry.partials, commit.endsPartials);
    if (commit.usage) {
      (entry.usage ??= new ModelSums()).add(commit.usage.models);
      this.#usage.add(commit.key, commit.usage, now);
    }
    this.#scopes.write(commit.key, entry, commit, commit.expiry, now, sizes);
    this.#continueSweep(1);
    const events = entry.log.newest(commit.events.length);
    return { kind: 'appended', record: entry.record, now, previousTipSeq, events };
  }

  async turn(request: TurnRequest): Promise<TurnOutcome> {
    const now = this.#now();
    const entry = this.#live(request.key, now);
    const outcome = turnOutcome(request, entry?.record, now);
    if (entry && outcome.kind === 'changed') this.#sessions.change(entry, { ...entry.record, turn: outcome.turn });
    return outcome;
  }

  async read(request: ReadRequest): Promise<StoredSession | undefined> {
    const now = this.#now();
    const entry = this.#live(request.key, now);
    if (!entry) return undefined;
    const { record, log, baseState } = entry;
    if (request.withState) this.#stateLimits.expectReadable(entry, request.maxStateBytes, now);
    const summary = request.withSummary ? log.at(record.marks.summarySeq) : undefined;
    return {
      record,
      now,
      ...(request.window ? log.window(request.window, record, now) : NO_EVENTS),
      ...(request.withState && {
        state: this.#scopes.stateOf(entry, now),
        scopeExpiry: this.#scopes.expiryOf(request.key, now),
      }),
      ...(request.withMetadata && { metadata: entry.metadata }),
      ...(summary && { summary }),
      ...(request.withSharedWrites && entry.sharedWrites && { sharedWrites: entry.sharedWrites.entries }),
      ...(request.withBase && { baseState }),
      ...(request.checkpointAt !== undefined && checkpointOf(entry, request.checkpointAt)),
      ...(request.find && { found: log.groups.find(request.find) }),
    };
  }

  async list(request: ListRequest): Promise<ListResult> {
    const now = this.#now();
    const { maxBytes = Infinity, withState = true, maxStateBytes } = request;
    const { items, ...rest } = this.#sessions.page(request, now);
    const states = this.#scopes.reader(now);
    const sessions: ListedSession[] = [];
    let size = 0;
    for (const item of items) {
      const { record, metadata, state } = item;
      if (withState) this.#stateLimits.expectReadable(item, maxStateBytes, now);
      const read = withState ? states.of(record, state) : NO_STATE;
      size += metadata.length + read.size;
      if (sessions.length > 0 && size > maxBytes) return { ...rest, sessions, examinedTo: undefined, isCut: true };
      sessions.push({ record, metadata, state: read.state });
    }
    return { sessions, ...rest };
  }

  async touch({ key, incarnation, renew }: TouchRequest): Promise<void> {
    const now = this.#now();
    const entry = this.#live(key, now);
    if (entry?.record.incarnation === incarnation && renew.session) {
      this.#sessions.change(entry, { ...entry.record, expiresAt: expiresAt(now, renew.session) });
    }
    const { appName, userId } = key;
    if (renew.user) this.#scopes.renew({ appName, userId }, renew.user, now);
    if (renew.app) this.#scopes.renew({ appName }, renew.app, now);
  }

  async trim({ key, newFirstSeq, digests, baseState, ...expected }: TrimRequest): Promise<void> {
    const entry = this.#live(key, this.#now());
    if (!entry || !isAsExpected(entry.record, expected)) return;
    const freed = entry.log.forgetPayloads(expected.firstSeq, digests);
    entry.baseState = baseState;
    entry.checkpoints = entry.checkpoints.filter(({ seq }) => seq >= newFirstSeq - 1);
    this.#sessions.change(entry, { ...entry.record, firstSeq: newFirstSeq });
    this.#textsWereFreed(freed);
  }

  async saveCheckpoint(request: CheckpointRequest): Promise<void> {
    const entry = this.#live(request.key, this.#now());
    if (entry?.record.incarnation !== request.incarnation || request.seq < entry.record.firstSeq - 1) return;
    keepCheckpoint(entry, request);
  }

  async rebuild(request: RebuildRequest): Promise<boolean> {
    const entry = this.#live(request.key, this.#now());
    return entry !== undefined && rebuildSession(entry, request);
  }

  async delete({ incarnation, expectedVersion, ...key }: DeleteRequest): Promise<void> {
    this.#now();
    if (isDeletable(this.#sessions.get(key)?.record, { incarnation, expectedVersion })) this.#remove(key);
  }

  async readState(owner: StateOwner, lifetime?: Lifetime, maxStateBytes?: StateLimits): Promise<StateEntries> {
    const now = this.#now();
    this.#scopes.expectReadable(owner, maxStateBytes, now);
    if (lifetime) this.#scopes.renewIfDue(owner, lifetime, now);
    return this.#scopes.entriesOf(owner, now);
  }

  async writeState({ owner, lifetime, maxStateBytes, ...writes }: WriteStateRequest): Promise<StateEntries> {
    const now = this.#now();
    this.#scopes.writeWithin(owner, writes, lifetime, now, maxStateBytes);
    this.#scopes.expectReadable(owner, maxStateBytes, now, true);
    return this.#scopes.entriesOf(owner, now);
  }

  async readUsage(queries: readonly UsageQuery[]): Promise<UsageReply> {
    const now = this.#now();
    const found = queries.map((query) => {
      const key = sessionOfUsage(query);
      if (!key) return this.#usage.read(query, now);
      const entry = this.#live(key, now);
      return entry && (entry.usage?.list() ?? []);
    });
    return { now, found };
  }

  async purgeExpired(limit: number): Promise<PurgeCounts> {
    const now = this.#now();
    this.#leases.purge(limit, now);
    this.#partials.purge(now);
    this.#usage.purge(limit, now);
    const expired = this.#sessions.purge(limit, now);
    for (const session of expired) this.#forget(session);
    return { sessions: expired.length, ...this.#scopes.purge(limit, now) };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#sessions.clear();
    this.#texts.clear();
    this.#sweep = undefined;
    this.#scopes.clear();
    this.#usage.clear();
    this.#leases.clear();
    this.#agenda.clear();
    void this.components.close();
    this.#consumers.clear();
    this.#partials.clear();
  }

  /** The current content, including expired data; for tests and diagnosis. */
  snapshot(): Snapshot {
    const others = [this.#usage.all(), this.#leases.all(), this.#agenda.all(), this.#consumers.all()];
    return snapshotOf([...this.#sessions.all()], this.#scopes.all(), others);
  }

  #remove(key: SessionKey): void {
    const entry = this.#sessions.get(key);
    if (!entry) return;
    this.#sessions.remove(key);
    this.#forget(entry);
  }

  #forget(entry: StoredEntry): void {
    this.#consumers.forget(entry);
    this.#partials.forget(entry);
    this.#textsWereFreed(entry.log.release());
  }

  /** Begins a sweep if slabs of text are half empty. It moves more than was freed, and has an end. */
  #textsWereFreed(bytes: number): void {
    if (this.#texts.beginSweep()) this.#sweep = this.#moves();
    this.#continueSweep(Math.ceil(bytes / BYTES_OF_A_STEP));
  }

  #continueSweep(steps: number): void {
    for (let step = 0; this.#sweep && step < steps; step++) {
      if (!this.#sweep.next().done) continue;
      this.#sweep = undefined;
      this.#texts.endSweep();
    }
  }

  *#moves(): Generator<void> {
    for (const { log } of this.#sessions.all()) yield* log.moveTexts();
  }

  #live(key: SessionKey, now: number): StoredEntry | undefined {
    const entry = this.#sessions.get(key);
    return entry && !isExpired(entry.record.expiresAt, now) ? entry : undefined;
  }

  /** The time of an operation. Throws after close. */
  #now(): number {
    if (this.#isClosed) throw new StoreUnavailableError('The session store is closed.', false);
    return this.#clock.now();
  }
}
