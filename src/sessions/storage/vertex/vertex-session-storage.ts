import { checkStoreOptionNames } from '../../../config/check-service-options.js';
import type { VertexSettings } from '../../../config/store-settings.js';
import type { Clock } from '../../domain/clock.js';
import { isDeletable } from '../../domain/commit-rules.js';
import type { AppendOutcome, Commit } from '../../domain/commit.js';
import { type Lifetime, NEVER } from '../../domain/expiry.js';
import { type SessionKey, type StateOwner, sessionNameOf } from '../../domain/ids.js';
import type { SessionRecord } from '../../domain/session-record.js';
import { turnOutcome } from '../../domain/turn-rules.js';
import type { TurnOutcome, TurnRequest } from '../../domain/turn.js';
import { UnsupportedByStoreError } from '../../domain/unsupported-error.js';
import { type UsageQuery, sessionOfUsage } from '../../domain/usage-periods.js';
import type { ModelUsage } from '../../domain/usage.js';
import type { Agenda, ConsumerStore, LeaseStore } from '../coordination.js';
import { InMemoryAgenda } from '../in-memory/in-memory-agenda.js';
import { InMemoryLeases } from '../in-memory/in-memory-leases.js';
import type { PartialStore } from '../partial-store.js';
import type {
  CreateRequest,
  DeleteRequest,
  ListRequest,
  ListResult,
  PurgeCounts,
  ReadRequest,
  SessionStorage,
  StateEntries,
  StoredSession,
  TouchRequest,
  UsageReply,
} from '../session-storage.js';
import type { TransferStore } from '../transfer-store.js';
import { appendCommit } from './append-commit.js';
import { createSession } from './create-session.js';
import { listSessions } from './list-sessions.js';
import { type LoadedSession, findSession, loadSession } from './load-session.js';
import { ProcessPartials } from './process-partials.js';
import { ProcessTurns } from './process-turns.js';
import { isEnoughFor, storedSession } from './read-session.js';
import { sharedStateError } from './reserved-keys.js';
import {
  NO_AGENDA,
  NO_CONSUMERS,
  NO_LEASES,
  NO_PARTIALS,
  needsOneProcess,
  sharedUsageError,
} from './unsupported-parts.js';
import { VertexConnection } from './vertex-connection.js';
import type { VertexSessionStorageOptions } from './vertex-options.js';
import { VertexTransfer } from './vertex-transfer.js';
import { ttlText } from './wire.js';

const ANY = (): boolean => true;

/**
 * Stores sessions in the managed sessions of Vertex AI Agent Engine. `docs/providers/vertex.md` says what the service
 * cannot promise.
 *
 * @example
 * const storage = new VertexSessionStorage({ project: 'my-project', location: 'us-central1', reasoningEngine: '123' });
 * const sessions = new SessionService({ storage });
 */
export class VertexSessionStorage implements SessionStorage {
  readonly cleansUpByItself = true;
  readonly leases: LeaseStore;
  readonly agenda: Agenda;
  readonly consumers: ConsumerStore = NO_CONSUMERS;
  readonly partials: PartialStore;
  readonly transfer: TransferStore;
  readonly #connection: VertexConnection;
  readonly #isAlone: boolean;
  readonly #turns = new ProcessTurns();
  readonly #ownPartials: ProcessPartials;

  constructor(options: VertexSessionStorageOptions) {
    checkStoreOptionNames('vertex', options);
    this.#connection = new VertexConnection(options);
    this.#isAlone = options.singleProcess ?? false;
    const now = (): number => this.#connection.now();
    this.#ownPartials = new ProcessPartials((key) => this.#connection.inTurn(key, () => this.#recordOf(key)), now);
    this.leases = this.#isAlone ? new InMemoryLeases(now) : NO_LEASES;
    const agenda = new InMemoryAgenda(now);
    this.agenda = this.#isAlone ? agenda : NO_AGENDA;
    this.transfer = new VertexTransfer(
      this.#connection,
      (key) => this.#forget(key),
      (prefix) => agenda.removeAll(prefix),
    );
    this.partials = this.#isAlone ? this.#ownPartials : NO_PARTIALS;
  }

  /** Gets a token and asks the configured engine, so that a wrong setting fails immediately. */
  async open(): Promise<void> {
    await this.#connection.probe();
  }

  create(request: CreateRequest): Promise<StoredSession | undefined> {
    return this.#connection.inTurn(request.key, () => createSession(this.#connection, request));
  }

  append(commit: Commit): Promise<AppendOutcome> {
    const { key, endsPartials } = commit;
    return this.#connection.inTurn(key, async () => {
      const loaded = await this.#loaded(key);
      if (!loaded) return { kind: 'missing' };
      const outcome = await appendCommit(this.#connection, loaded, commit);
      if (outcome.kind === 'appended') {
        if (commit.endsTurn) this.#turns.keep(outcome.record, outcome.record.turn, outcome.now);
        this.#ownPartials.end(key, endsPartials);
      }
      return outcome;
    });
  }

  turn(request: TurnRequest): Promise<TurnOutcome> {
    return this.#connection.inTurn(request.key, async () => {
      if (!this.#isAlone) needsOneProcess();
      const record = await this.#recordOf(request.key);
      const now = this.#connection.now();
      const outcome = turnOutcome(request, record, now);
      if (record && outcome.kind === 'changed') this.#turns.keep(record, outcome.turn, now);
      return outcome;
    });
  }

  read(request: ReadRequest): Promise<StoredSession | undefined> {
    return this.#connection.inTurn(request.key, async () => {
      const loaded = await this.#loaded(request.key, isEnoughFor(request));
      return loaded && storedSession(loaded, request);
    });
  }

  async list(request: ListRequest): Promise<ListResult> {
    const { sessions, ...page } = await listSessions(this.#connection, request);
    return { ...page, sessions: sessions.map((one) => ({ ...one, record: this.#turns.withTurn(one.record) })) };
  }

  async touch({ key, incarnation, renew: { session: lifetime } }: TouchRequest): Promise<void> {
    if (!lifetime || lifetime.ttlMs >= NEVER) return;
    await this.#connection.inTurn(key, async () => {
      const found = await findSession(this.#connection, key);
      if (found?.incarnation === incarnation) await found.api.setTtl(found.id, ttlText(lifetime.ttlMs));
    });
  }

  async trim(): Promise<void> {
    throw new UnsupportedByStoreError('Vertex AI cannot remove single events. Leave history.keepHistory on.');
  }

  /** Replicas make reads of the log cheap enough. */
  async saveCheckpoint(): Promise<void> {
    this.#connection.now();
  }

  /** Vertex AI deletes by id alone: what other processes do between the two calls is not seen. */
  delete({ incarnation, expectedVersion, ...key }: DeleteRequest): Promise<void> {
    return this.#connection.inTurn(key, async () => {
      const found = await findSession(this.#connection, key);
      if (incarnation !== undefined && found?.incarnation !== incarnation) return;
      if (expectedVersion !== undefined && !isDeletable(await this.#recordOf(key), { incarnation, expectedVersion }))
        return;
      if (found) await found.api.delete(found.id);
      this.#forget(key);
    });
  }

  /** There is no shared state. Asks the engine, so that health checks notice when it does not answer. */
  async readState(_owner: StateOwner, _lifetime?: Lifetime): Promise<StateEntries> {
    await this.#connection.probe();
    return [];
  }

  async writeState(): Promise<StateEntries> {
    throw sharedStateError();
  }

  async readUsage(queries: readonly UsageQuery[]): Promise<UsageReply> {
    const found: (readonly ModelUsage[] | undefined)[] = [];
    for (const query of queries) {
      const key = sessionOfUsage(query);
      if (!key) throw sharedUsageError();
      const session = await findSession(this.#connection, key);
      found.push(session && (session.snapshot?.usage ?? []));
    }
    return { now: this.#connection.now(), found };
  }

  /** The service removes expired sessions. */
  async purgeExpired(): Promise<PurgeCounts> {
    this.#connection.now();
    return { sessions: 0, userStates: 0, appStates: 0 };
  }

  async close(): Promise<void> {
    this.#connection.close();
    this.#ownPartials.clear();
  }

  #forget(key: SessionKey): void {
    this.#connection.cache.remove(sessionNameOf(key));
    this.#ownPartials.end(key, 'all');
    this.#turns.remove(key);
  }

  async #loaded(key: SessionKey, isEnough?: (loaded: LoadedSession) => boolean): Promise<LoadedSession | undefined> {
    const loaded = await loadSession(this.#connection, key, isEnough);
    return loaded && { ...loaded, record: this.#turns.withTurn(loaded.record) };
  }

  async #recordOf(key: SessionKey): Promise<SessionRecord | undefined> {
    return (await this.#loaded(key, ANY))?.record;
  }
}

/** Creates the store from settings. It sends nothing. */
export function vertexStorageOf(settings: VertexSettings, clock: Clock | undefined): VertexSessionStorage {
  return new VertexSessionStorage({ ...settings, clock });
}
