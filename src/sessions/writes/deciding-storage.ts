import type { AppendOutcome, Commit } from '../domain/stored/commit.js';
import { StoreUnavailableError } from '../domain/errors/errors.js';
import type { Lifetime } from '../domain/values/expiry.js';
import type { StateOwner } from '../domain/values/ids.js';
import type { StateLimits } from '../domain/stored/state-size.js';
import type { PartialOutcome, PartialWrite } from '../domain/stored/partial-event.js';
import type { TurnOutcome, TurnRequest } from '../domain/stored/turn.js';
import type { UsageQuery } from '../domain/usage/usage-periods.js';
import { isDeletable } from '../domain/write/commit-rules.js';
import { retryUndefined } from '../domain/process/retry-overtaken.js';
import { newSession } from './new-session.js';
import { readUsage } from './read-usage.js';
import { LocalWriter } from './local-writer.js';
import { SessionWriter } from './session-writer.js';
import {
  checkpointChange,
  dispatchChange,
  partialChange,
  rebuildChange,
  restoreChange,
  touchChange,
  trimChange,
  turnChange,
} from './session-change.js';
import { EntryComponents } from '../coordination/components/entry-components.js';
import { EntryAgenda } from '../coordination/entry-agenda.js';
import { EntryConsumers } from '../coordination/entry-consumers.js';
import { EntryLeases } from '../coordination/entry-leases.js';
import { KnownEntries } from '../coordination/known-entries.js';
import type { Writer } from './writer.js';
import type { Agenda, ChangedSession, ConsumerStore, LeaseStore } from '../storage/coordination.js';
import type { ComponentStore } from '../storage/component-store.js';
import type { EntryStore } from '../storage/entry-store.js';
import type { RebuildRequest } from '../storage/rebuild.js';
import type { SessionHead } from '../storage/planned-write.js';
import type { ChangeFeed, LogTail, TailRequest } from '../storage/session-changes.js';
import type {
  CheckpointRequest,
  CreateRequest,
  DeleteRequest,
  ListRequest,
  ListResult,
  PurgeCounts,
  ReadRequest,
  SessionStorage,
  SharedScope,
  StateEntries,
  StoredSession,
  TouchRequest,
  TrimRequest,
  UsageReply,
  WriteStateRequest,
} from '../storage/session-storage.js';
import type { SessionStore, StampedSession } from '../storage/session-store.js';
import type { AuditPage, AuditRequest } from '../storage/store-audit.js';
import type { RestoreEventsRequest } from '../storage/transfer-store.js';
import { storeClosed } from '../domain/errors/store-closed.js';

/**
 * The storage over a store: what becomes of a write is decided here, on what this process knows of its session, and the store compares
 * and writes. So all stores have the same rules.
 *
 * @example
 * class MyStorage extends DecidingStorage<MyStore> {
 *   constructor(options: MyOptions) {
 *     super(new MyStore(options));
 *   }
 * }
 */
export class DecidingStorage<Store extends SessionStore> implements SessionStorage {
  readonly entries: EntryStore;
  readonly leases: LeaseStore;
  readonly agenda: Agenda;
  readonly consumers: ConsumerStore;
  readonly components: ComponentStore | undefined;
  readonly isInProcess: boolean;
  readonly cleansUpByItself: boolean;
  readonly transfer: Store['transfer'];
  readonly #openWriter: Writer;
  #isClosed = false;

  /** @param missing what stands for parts that cannot be made of the store */
  constructor(
    protected readonly store: Store,
    missing: Partial<Pick<SessionStorage, 'leases' | 'agenda' | 'consumers' | 'components'>> = {},
  ) {
    const { writes } = store;
    this.#openWriter = 'isLocal' in writes ? new LocalWriter(writes) : new SessionWriter(writes);
    this.entries = store.entries;
    const entries = new KnownEntries(store.entries);
    this.leases = missing.leases ?? new EntryLeases(entries);
    this.agenda = missing.agenda ?? new EntryAgenda(entries);
    this.consumers =
      missing.consumers ?? new EntryConsumers(entries, store.marks, (taken) => this.#markDispatched(taken));
    this.components = 'components' in missing ? missing.components : new EntryComponents(store.entries);
    this.isInProcess = store.isInProcess ?? false;
    this.cleansUpByItself = store.cleansUpByItself ?? false;
    this.transfer = store.transfer;
  }

  /** A store may get it when it opens. */
  get feed(): ChangeFeed | undefined {
    return this.store.feed;
  }

  /** Components are examined after all that the store has of its own. */
  get audit(): SessionStorage['audit'] {
    const { store, components } = this;
    const audit = store.audit?.bind(store);
    return audit && components instanceof EntryComponents ? (request) => auditBoth(audit, components, request) : audit;
  }

  get groupedEvents(): SessionStorage['groupedEvents'] {
    return this.store.groupedEvents?.bind(this.store);
  }

  async create(request: CreateRequest): Promise<StoredSession | undefined> {
    const created = await this.store.create(newSession(request));
    if (created) this.#openWriter.remember(headIn(created));
    return created?.session;
  }

  async append(commit: Commit): Promise<AppendOutcome> {
    return this.#writer.append(commit);
  }

  async turn(request: TurnRequest): Promise<TurnOutcome> {
    return this.#writer.change(turnChange(request));
  }

  async savePartial(write: PartialWrite): Promise<PartialOutcome> {
    return this.#writer.change(partialChange(write));
  }

  async read(request: ReadRequest): Promise<StoredSession | undefined> {
    const found = await this.store.read(request);
    if (found) this.#openWriter.refresh(headIn(found));
    return found?.session;
  }

  tails(logs: readonly TailRequest[]): Promise<readonly (LogTail | undefined)[]> {
    return this.store.tails(logs);
  }

  list(request: ListRequest): Promise<ListResult> {
    return this.store.list(request);
  }

  async touch(request: TouchRequest): Promise<void> {
    return this.#writer.change(touchChange(request));
  }

  async trim(request: TrimRequest): Promise<void> {
    return this.#writer.change(trimChange(request));
  }

  async saveCheckpoint(request: CheckpointRequest): Promise<void> {
    return this.#writer.change(checkpointChange(request));
  }

  async restoreEvents(request: RestoreEventsRequest): Promise<boolean> {
    return this.#writer.change(restoreChange(request));
  }

  /** A session that is another one by now, or has other events, is left. */
  async delete({ expectedVersion, lastSeq, ...request }: DeleteRequest): Promise<void> {
    if (expectedVersion === undefined && lastSeq === undefined) {
      await this.store.delete(request);
      return;
    }
    const isDone = await retryUndefined(async () => {
      const found = await this.store.read({ key: request });
      const { incarnation } = request;
      if (!isDeletable(found?.session.record, { incarnation, expectedVersion, lastSeq })) return true;
      return (await this.store.delete({ ...request, stamp: found?.stamp })) || undefined;
    });
    if (!isDone)
      throw new StoreUnavailableError('Others changed the session each time that it was to be deleted.', false);
  }

  async rebuild(request: RebuildRequest): Promise<boolean> {
    return this.#writer.change(rebuildChange(request));
  }

  async readState(owner: StateOwner, renew?: Lifetime, maxStateBytes?: StateLimits): Promise<StateEntries> {
    return (await this.store.readState(owner, renew, maxStateBytes)).entries;
  }

  readScope(owner: StateOwner): Promise<SharedScope> {
    return this.store.readState(owner);
  }

  writeState(request: WriteStateRequest): Promise<StateEntries> {
    return this.store.writeState(request);
  }

  readUsage(queries: readonly UsageQuery[]): Promise<UsageReply> {
    return readUsage(this.store, queries);
  }

  purgeExpired(limit: number): Promise<PurgeCounts> {
    return this.store.purgeExpired(limit);
  }

  /** Waits for running writes. A second call does nothing. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#openWriter.finished();
    await this.store.close();
  }

  async #markDispatched(taken: readonly ChangedSession[]): Promise<void> {
    const writer = this.#writer;
    await Promise.all(taken.map(async (seen) => writer.change(dispatchChange(seen))));
  }

  get #writer(): Writer {
    if (this.#isClosed) throw storeClosed();
    return this.#openWriter;
  }
}

const COMPONENTS = 'components ';

async function auditBoth(
  audit: NonNullable<SessionStorage['audit']>,
  components: EntryComponents,
  { cursor, ...request }: AuditRequest,
): Promise<AuditPage> {
  if (!cursor?.startsWith(COMPONENTS)) {
    const page = await audit({ ...request, cursor });
    return { ...page, nextCursor: page.nextCursor ?? COMPONENTS };
  }
  const page = await components.audit({ ...request, cursor: cursor.slice(COMPONENTS.length) || undefined });
  return { ...page, nextCursor: page.nextCursor && COMPONENTS + page.nextCursor };
}

function headIn({ session: { record, metadata }, stateText: state, stamp }: StampedSession): SessionHead {
  return { record, metadata, state, stamp };
}
