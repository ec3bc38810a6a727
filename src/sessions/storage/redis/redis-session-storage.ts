import type { AppendOutcome, Commit } from '../../domain/commit.js';
import type { Lifetime } from '../../domain/expiry.js';
import type { SessionKey, StateOwner } from '../../domain/ids.js';
import type { Agenda } from '../agenda.js';
import type { LeaseStore } from '../lease-store.js';
import type { SessionChanges } from '../session-changes.js';
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
import { AppMemory, ClusterApp } from './cluster-app.js';
import { createSession } from './create-session.js';
import { deleteSession } from './delete-session.js';
import { listOfUser } from './list-of-user.js';
import { logPositions } from './log-positions.js';
import { ExpiryPurge } from './purge-expired.js';
import { readSession } from './read-session.js';
import { RedisAgenda } from './redis-agenda.js';
import { RedisConnection } from './redis-connection.js';
import { RedisFeed } from './redis-feed.js';
import { RedisKeys } from './redis-keys.js';
import { RedisLeases } from './redis-leases.js';
import { DEFAULT_PREFIX, type RedisSessionStorageOptions } from './redis-options.js';
import { readSharedState, writeSharedState } from './shared-state.js';
import type { ScriptRunner } from './script-runner.js';
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
  readonly leases: LeaseStore;
  readonly agenda: Agenda;
  readonly changes: SessionChanges;
  readonly #connection: RedisConnection;
  readonly #keys: RedisKeys;
  readonly #feed: RedisFeed;
  readonly #appFor: (scripts: ScriptRunner) => AppScope;

  constructor(options: RedisSessionStorageOptions = {}) {
    this.#keys = new RedisKeys(options.prefix ?? DEFAULT_PREFIX);
    this.#connection = new RedisConnection(options);
    const memory = new AppMemory();
    this.#appFor = this.#connection.isCluster
      ? (scripts) => new ClusterApp(scripts, this.#keys, memory)
      : (scripts) => new SingleNodeApp(scripts, this.#keys);
    this.leases = new RedisLeases(this.#connection, this.#keys);
    this.agenda = new RedisAgenda(this.#connection, this.#keys);
    const { client, timeoutMs, isCluster } = this.#connection;
    this.#feed = new RedisFeed(client, this.#keys, { timeoutMs });
    this.changes = {
      positions: (logs) => this.#call((scripts) => logPositions(scripts, this.#keys, logs, isCluster)),
      feed: this.#feed,
    };
  }

  /** Connects, so that a wrong setting shows at once; otherwise the first operation does. */
  async open(): Promise<void> {
    await this.#connection.open();
  }

  create(request: CreateRequest): Promise<StoredSession | undefined> {
    return this.#call((scripts, app) => createSession(scripts, app, request));
  }

  append(commit: Commit): Promise<AppendOutcome> {
    return this.#call((scripts, app) => appendCommit(scripts, app, commit));
  }

  read(request: ReadRequest): Promise<StoredSession | undefined> {
    return this.#call((scripts, app) => readSession(scripts, app, request));
  }

  list(request: ListRequest): Promise<ListResult> {
    const { userId } = request;
    return this.#call((scripts, app) =>
      userId === undefined ? app.listApp(request) : listOfUser(scripts, this.#keys, app, { ...request, userId }),
    );
  }

  touch(request: TouchRequest): Promise<void> {
    return this.#call((scripts, app) => touchSession(scripts, app, request));
  }

  trim(request: TrimRequest): Promise<void> {
    return this.#call((scripts, app) => trimLog(scripts, app, request));
  }

  delete(key: SessionKey): Promise<void> {
    return this.#call((scripts, app) => deleteSession(scripts, app, key));
  }

  async readState(owner: StateOwner, renew?: Lifetime): Promise<StateEntries> {
    return (await readSharedState(this.#connection, this.#keys.stateOf(owner), { renew })).entries;
  }

  writeState(request: WriteStateRequest): Promise<StateEntries> {
    return this.#call((scripts, app) => writeSharedState(scripts, this.#keys, app, request));
  }

  purgeExpired(limit: number): Promise<PurgeCounts> {
    // It goes on as long as there is something to clear away, so each of its scripts has a limit of its own.
    const app = this.#appFor(this.#connection);
    return new ExpiryPurge(this.#connection, this.#keys, app, limit).run();
  }

  async close(): Promise<void> {
    this.#feed.close();
    await this.#connection.close();
  }

  /** Everything that belongs to one call shares its limit of time. */
  #call<Result>(work: (scripts: ScriptRunner, app: AppScope) => Promise<Result>): Promise<Result> {
    const scripts = this.#connection.call();
    return work(scripts, this.#appFor(scripts));
  }
}
