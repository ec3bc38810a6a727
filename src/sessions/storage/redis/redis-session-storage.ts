import type { AppendOutcome, Commit } from '../../domain/commit.js';
import type { Lifetime } from '../../domain/expiry.js';
import type { SessionKey, StateOwner } from '../../domain/ids.js';
import type {
  CreateRequest,
  ListRequest,
  ListResult,
  PurgeCounts,
  ReadRequest,
  SessionStorage,
  StateEntries,
  StoredSession,
  TouchRequest,
  TrimRequest,
  WriteStateRequest,
} from '../session-storage.js';
import { appendCommit } from './append-commit.js';
import type { AppScope } from './app-scope.js';
import { ClusterApp } from './cluster-app.js';
import { createSession } from './create-session.js';
import { deleteSession } from './delete-session.js';
import { listOfUser } from './list-of-user.js';
import { ExpiryPurge } from './purge-expired.js';
import { readSession } from './read-session.js';
import { RedisConnection } from './redis-connection.js';
import { RedisKeys } from './redis-keys.js';
import { DEFAULT_PREFIX, type RedisSessionStorageOptions } from './redis-options.js';
import { readSharedState, writeSharedState } from './shared-state.js';
import { SingleNodeApp } from './single-node-app.js';
import { touchSession } from './touch-session.js';
import { trimLog } from './trim-log.js';

/**
 * Keeps sessions in Redis: on a single node, behind Sentinel, or on a cluster. Every operation on a session is
 * one script, so it is one round trip and atomic; only what a cluster keeps in another slot takes more.
 *
 * @example
 * const sessions = new SessionService({ storage: new RedisSessionStorage({ url: 'redis://127.0.0.1:6379' }) });
 */
export class RedisSessionStorage implements SessionStorage {
  readonly #connection: RedisConnection;
  readonly #keys: RedisKeys;
  readonly #app: AppScope;

  constructor(options: RedisSessionStorageOptions = {}) {
    this.#keys = new RedisKeys(options.prefix ?? DEFAULT_PREFIX);
    this.#connection = new RedisConnection(options);
    const App = this.#connection.isCluster ? ClusterApp : SingleNodeApp;
    this.#app = new App(this.#connection, this.#keys);
  }

  /** Connects, so that a wrong setting shows at once; otherwise the first operation does. */
  async open(): Promise<void> {
    await this.#connection.open();
  }

  create(request: CreateRequest): Promise<StoredSession | undefined> {
    return createSession(this.#connection, this.#app, request);
  }

  append(commit: Commit): Promise<AppendOutcome> {
    return appendCommit(this.#connection, this.#app, commit);
  }

  read(request: ReadRequest): Promise<StoredSession | undefined> {
    return readSession(this.#connection, this.#app, request);
  }

  list(request: ListRequest): Promise<ListResult> {
    const { userId } = request;
    if (userId === undefined) return this.#app.listApp(request);
    return listOfUser(this.#connection, this.#keys, this.#app, { ...request, userId });
  }

  touch(request: TouchRequest): Promise<void> {
    return touchSession(this.#connection, this.#app, request);
  }

  trim(request: TrimRequest): Promise<void> {
    return trimLog(this.#connection, this.#app, request);
  }

  delete(key: SessionKey): Promise<void> {
    return deleteSession(this.#connection, this.#app, key);
  }

  async readState(owner: StateOwner, renew?: Lifetime): Promise<StateEntries> {
    return (await readSharedState(this.#connection, this.#keys.stateOf(owner), { renew })).entries;
  }

  writeState(request: WriteStateRequest): Promise<StateEntries> {
    return writeSharedState(this.#connection, this.#keys, this.#app, request);
  }

  purgeExpired(limit: number): Promise<PurgeCounts> {
    return new ExpiryPurge(this.#connection, this.#keys, this.#app, limit).run();
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }
}
