import { checkStoreOptionNames } from '../../../config/check-service-options.js';
import { checkedClock } from '../../domain/process/checked-clock.js';
import type { Lifetime } from '../../domain/values/expiry.js';
import type { StateOwner } from '../../domain/values/ids.js';
import type { StateLimits } from '../../domain/stored/state-size.js';
import type { UsageQuery } from '../../domain/usage/usage-periods.js';
import type { SessionMarks } from '../coordination.js';
import type { WriteStore } from '../planned-write.js';
import type { GroupedEvents, GroupedEventsRequest } from '../rebuild.js';
import type { LogTail, TailRequest } from '../session-changes.js';
import type {
  ListRequest,
  ListResult,
  PurgeCounts,
  ReadRequest,
  SharedScope,
  StateEntries,
  UsageReply,
  WriteStateRequest,
} from '../session-storage.js';
import type { DeletedSession, NewSessionRequest, SessionStore, StampedSession } from '../session-store.js';
import type { TransferStore } from '../transfer-store.js';
import type { AuditPage, AuditRequest } from '../store-audit.js';
import { ALL_SCRIPTS } from './all-scripts.js';
import { type AppScope, SingleNodeAppScope } from './app-scope/app-scope.js';
import { AppMemory, ClusterAppScope } from './app-scope/cluster-app-scope.js';
import { createSession } from './append/create-session.js';
import { RedisWrites } from './append/redis-writes.js';
import { ServerClock } from './append/server-clock.js';
import { auditRedis } from './audit/audit-redis.js';
import { groupedEvents } from './audit/grouped-events.js';
import { RedisConnection } from './connect/redis-connection.js';
import { DEFAULT_PREFIX, type RedisSessionStorageOptions } from './connect/redis-options.js';
import { RedisEntries } from './entries/redis-entries.js';
import { deleteSession } from './expire/delete-session.js';
import { ExpiryPurge } from './expire/purge-expired.js';
import { listSessions } from './list/list-sessions.js';
import { logTails } from './live/log-tails.js';
import { RedisFeed } from './live/redis-feed.js';
import { RedisMarks } from './live/redis-marks.js';
import { readSession, type ReadSession } from './read/read-session.js';
import { readUsage } from './read/read-usage.js';
import { RedisKeys } from './redis-keys.js';
import { findRecordStamp } from '../record-text.js';
import type { ScriptRunner } from './script/script.js';
import { readSharedState, writeSharedState } from './state/shared-state.js';
import { RedisTransfer } from './transfer/redis-transfer.js';

/** Sessions in Redis. */
export class RedisStore implements SessionStore {
  readonly writes: WriteStore;
  readonly entries: RedisEntries;
  readonly marks: SessionMarks;
  readonly feed: RedisFeed;
  readonly transfer: TransferStore;
  readonly #connection: RedisConnection;
  readonly #keys: RedisKeys;
  readonly #clock: ServerClock;
  readonly #appScopeOf: (scripts: ScriptRunner) => AppScope;

  constructor(options: RedisSessionStorageOptions = {}) {
    checkStoreOptionNames('redis', options);
    this.#keys = new RedisKeys(options.prefix ?? DEFAULT_PREFIX);
    const clock = options.clock && checkedClock(options.clock);
    this.#connection = new RedisConnection({ ...options, clock }, this.#keys, ALL_SCRIPTS);
    const memory = new AppMemory();
    const singleNode = new SingleNodeAppScope(this.#keys);
    this.#appScopeOf = this.#connection.isCluster
      ? (scripts) => new ClusterAppScope(scripts, this.#keys, memory)
      : () => singleNode;
    const startCall = (calledAt: number): { scripts: ScriptRunner; app: AppScope } => {
      const scripts = this.#connection.startCall(calledAt);
      return { scripts, app: this.#appScopeOf(scripts) };
    };
    this.#clock = new ServerClock(clock);
    this.writes = new RedisWrites({ keys: this.#keys, clock: this.#clock, startCall });
    const { client, timeoutMs, isCluster } = this.#connection;
    this.entries = new RedisEntries(this.#connection, this.#keys, isCluster);
    this.marks = new RedisMarks(this.#connection, this.#keys, isCluster, this.#clock.slackMs);
    this.transfer = new RedisTransfer(this.#connection, this.#keys, this.#appScopeOf);
    this.feed = new RedisFeed(client, this.#keys, { timeoutMs });
  }

  /** Without this call, the first operation connects. */
  async open(): Promise<void> {
    await this.#connection.open();
  }

  warnings(): Promise<readonly string[]> {
    return this.#connection.warnings();
  }

  async create(request: NewSessionRequest): Promise<StampedSession | undefined> {
    return stamped(await this.#call((scripts, app) => createSession(scripts, this.#keys, app, request, this.#clock)));
  }

  async read(request: ReadRequest): Promise<StampedSession | undefined> {
    return stamped(await this.#call((scripts, app) => readSession(scripts, app, request, this.#noteTime)));
  }

  tails(logs: readonly TailRequest[]): Promise<(LogTail | undefined)[]> {
    const { isCluster } = this.#connection;
    return this.#call((scripts) => logTails(scripts, this.#keys, logs, isCluster));
  }

  list(request: ListRequest): Promise<ListResult> {
    return this.#call((scripts, app) => listSessions(scripts, this.#keys, app, request));
  }

  delete(request: DeletedSession): Promise<boolean> {
    return this.#call((scripts, app) => deleteSession(scripts, this.#keys, app, request));
  }

  readState(owner: StateOwner, renew?: Lifetime, limits?: StateLimits): Promise<SharedScope> {
    return readSharedState(this.#connection, this.#keys, owner, { renew, limits });
  }

  writeState(request: WriteStateRequest): Promise<StateEntries> {
    return this.#call((scripts, app) => writeSharedState(scripts, this.#keys, app, request));
  }

  readUsage(queries: readonly UsageQuery[]): Promise<UsageReply> {
    return this.#call((scripts, { isCluster }) => readUsage(scripts, this.#keys, isCluster, queries));
  }

  async purgeExpired(limit: number): Promise<PurgeCounts> {
    // A purge may run long, so each of its scripts has its own time limit.
    const app = this.#appScopeOf(this.#connection);
    const counts = await new ExpiryPurge(this.#connection, this.#keys, app, limit).run();
    await this.entries.purge(limit);
    return counts;
  }

  async audit(request: AuditRequest): Promise<AuditPage> {
    await this.#connection.open();
    const [scripts, app] = [this.#connection, this.#appScopeOf(this.#connection)];
    return auditRedis(scripts.client, { scripts, keys: this.#keys, app, repair: request.repair }, request);
  }

  groupedEvents(request: GroupedEventsRequest): Promise<readonly GroupedEvents[] | undefined> {
    return this.#call((scripts, app) => groupedEvents(scripts, app, request));
  }

  async close(): Promise<void> {
    this.feed.close();
    await this.#connection.close();
  }

  readonly #noteTime = (now: string): void => this.#clock.note(now);

  /** All scripts of one call share one time limit. */
  #call<Result>(work: (scripts: ScriptRunner, app: AppScope) => Promise<Result>): Promise<Result> {
    const scripts = this.#connection.startCall();
    return work(scripts, this.#appScopeOf(scripts));
  }
}

function stamped(found: ReadSession | undefined): StampedSession | undefined {
  return found && { ...found, stamp: findRecordStamp(found.session.record) };
}
