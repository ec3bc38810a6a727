import { checkStoreOptionNames } from '../../../config/check-service-options.js';
import type { Lifetime } from '../../domain/values/expiry.js';
import { type SessionKey, type StateOwner, sessionNameOf } from '../../domain/values/ids.js';
import type { SessionRecord } from '../../domain/stored/session-record.js';
import type { UsageQuery } from '../../domain/usage/usage-periods.js';
import type { SessionMarks } from '../coordination.js';
import { InMemoryEntries } from '../in-memory/in-memory-entries.js';
import { readLogTail } from '../in-memory/log-tail.js';
import type {
  ListRequest,
  ListResult,
  PurgeCounts,
  ReadRequest,
  SharedScope,
  StateEntries,
  StoredSession,
  UsageReply,
} from '../session-storage.js';
import type { WriteStore } from '../planned-write.js';
import type { LogTail, TailRequest } from '../session-changes.js';
import type { DeletedSession, NewSessionRequest, SessionStore, StampedSession } from '../session-store.js';
import type { TransferStore } from '../transfer-store.js';
import { createSession } from './create-session.js';
import { listSessions } from './list-sessions.js';
import { type LoadedSession, findSession, loadSession } from './load-session.js';
import { ProcessPartials } from './process-partials.js';
import { ProcessTurns } from './process-turns.js';
import { isEnoughFor, storedSession } from './read-session.js';
import { sharedStateError } from './reserved-keys.js';
import { NO_CONSUMERS, sharedUsageError } from './unsupported-parts.js';
import { VertexConnection } from './vertex-connection.js';
import type { VertexSessionStorageOptions } from './vertex-options.js';
import { VertexTransfer } from './vertex-transfer.js';
import { VertexWrites } from './vertex-writes.js';

const ANY = (): boolean => true;

/** Sessions in the managed sessions of Vertex AI Agent Engine. */
export class VertexStore implements SessionStore {
  readonly cleansUpByItself = true;
  readonly feed = undefined;
  readonly writes: WriteStore;
  readonly entries: InMemoryEntries;
  readonly marks: SessionMarks = NO_CONSUMERS;
  readonly transfer: TransferStore;
  readonly #connection: VertexConnection;
  readonly #turns = new ProcessTurns();
  readonly #partials = new ProcessPartials();

  constructor(options: VertexSessionStorageOptions) {
    checkStoreOptionNames('vertex', options);
    this.#connection = new VertexConnection(options);
    const now = (): number => this.#connection.now();
    this.writes = new VertexWrites({
      connection: this.#connection,
      turns: this.#turns,
      partials: this.#partials,
      load: (key, isWhole) => this.#loaded(key, isWhole ? undefined : ANY),
    });
    this.entries = new InMemoryEntries(now);
    this.transfer = new VertexTransfer(this.#connection, (key) => this.#forget(key));
  }

  /** Gets a token and asks the configured engine, so that a wrong setting fails immediately. */
  async open(): Promise<void> {
    await this.#connection.probe();
  }

  create(request: NewSessionRequest): Promise<StampedSession | undefined> {
    return this.#connection.inTurn(request.key, async () => stamped(await createSession(this.#connection, request)));
  }

  read(request: ReadRequest): Promise<StampedSession | undefined> {
    return this.#connection.inTurn(request.key, async () => {
      const loaded = await this.#loaded(request.key, isEnoughFor(request));
      return stamped(loaded && storedSession(loaded, request));
    });
  }

  tails(logs: readonly TailRequest[]): Promise<(LogTail | undefined)[]> {
    return Promise.all(logs.map((log) => this.#connection.inTurn(log.key, () => this.#tailOf(log))));
  }

  async list(request: ListRequest): Promise<ListResult> {
    const { sessions, ...page } = await listSessions(this.#connection, request);
    return { ...page, sessions: sessions.map((one) => ({ ...one, record: this.#turns.withTurn(one.record) })) };
  }

  /** Vertex AI deletes by id alone: what other processes do between the two calls is not seen. */
  delete({ incarnation, stamp, ...key }: DeletedSession): Promise<boolean> {
    return this.#connection.inTurn(key, async () => {
      const found = await findSession(this.#connection, key);
      if (incarnation !== undefined && found?.incarnation !== incarnation) return true;
      if (stamp !== undefined && toDeletionStamp(await this.#recordOf(key)) !== stamp) return false;
      if (found) await found.api.delete(found.id);
      this.#forget(key);
      return true;
    });
  }

  /** There is no shared state. Asks the engine, so that health checks notice when it does not answer. */
  async readState(_owner: StateOwner, _lifetime?: Lifetime): Promise<SharedScope> {
    await this.#connection.probe();
    return { entries: [] };
  }

  async writeState(): Promise<StateEntries> {
    throw sharedStateError();
  }

  async readUsage(queries: readonly UsageQuery[]): Promise<UsageReply> {
    if (queries.length > 0) throw sharedUsageError();
    return { now: this.#connection.now(), found: [] };
  }

  /** The service removes expired sessions. */
  async purgeExpired(limit: number): Promise<PurgeCounts> {
    this.entries.purge(limit, this.#connection.now());
    return { sessions: 0, userStates: 0, appStates: 0 };
  }

  async close(): Promise<void> {
    this.#connection.close();
    this.#partials.clear();
  }

  #forget(key: SessionKey): void {
    this.#connection.cache.remove(sessionNameOf(key));
    this.#partials.end(key, 'all');
    this.#turns.remove(key);
  }

  async #loaded(key: SessionKey, isEnough?: (loaded: LoadedSession) => boolean): Promise<LoadedSession | undefined> {
    const loaded = await loadSession(this.#connection, key, isEnough);
    return loaded && { ...loaded, record: this.#turns.withTurn(loaded.record) };
  }

  async #tailOf(request: TailRequest): Promise<LogTail | undefined> {
    const { key, incarnation, afterSeq, limit } = request;
    const loaded = await this.#loaded(key, ({ replica }) => limit === 0 || afterSeq + 1 >= replica.from);
    if (!loaded) return undefined;
    const { record, replica, now } = loaded;
    return readLogTail({ record, log: replica.log, partials: this.#partials.of(key, incarnation) }, request, now);
  }

  async #recordOf(key: SessionKey): Promise<SessionRecord | undefined> {
    return (await this.#loaded(key, ANY))?.record;
  }
}

function stamped(session: StoredSession | undefined): StampedSession | undefined {
  return session && { session, stamp: toDeletionStamp(session.record), stateText: undefined };
}

/** The service has no stamps. Only deletions compare them. */
function toDeletionStamp(record: SessionRecord | undefined): number {
  return record?.lastSeq ?? -1;
}
