import { Cluster, type ClusterNode, Redis, type RedisOptions } from 'ioredis';
import type { Clock } from '../../domain/clock.js';

/** A client of ioredis, of a node or of a cluster. */
export type RedisClient = Redis | Cluster;

/** Where Redis is, and how it is used. */
export interface RedisSessionStorageOptions {
  /** A client of your own, of a node or of a cluster. It is used as it is, and never closed. */
  readonly client?: RedisClient | undefined;
  /** `redis://` or `rediss://`; without any of these options it is `redis://127.0.0.1:6379`. */
  readonly url?: string | undefined;
  /** What else ioredis is to know: `sentinels` and `name`, `tls`, `password`; for a cluster, of each of its nodes. */
  readonly connection?: RedisOptions | undefined;
  /** Some nodes of a cluster; the others are found through them. */
  readonly cluster?: readonly ClusterNode[] | undefined;
  /** Stands in front of all keys; `agent-sessions:` unless given. */
  readonly prefix?: string | undefined;
  /** Where the time comes from; the server's clock unless given. */
  readonly clock?: Clock | undefined;
  /** How long a call may take, a connection that it waits for included; 2,000 unless given. */
  readonly commandTimeoutMs?: number | undefined;
  /** Acknowledges a write only when so many replicas have it. */
  readonly waitReplicas?: WaitReplicas | undefined;
}

/** How many replicas have to have a write. */
export interface WaitReplicas {
  readonly count: number;
  /** How long they may take. */
  readonly timeoutMs: number;
}

export const DEFAULT_PREFIX = 'agent-sessions:';
export const DEFAULT_COMMAND_TIMEOUT_MS = 2_000;

const LONGEST_RECONNECT_DELAY_MS = 500;

/**
 * A client that never sends anything twice and never keeps commands for later: what is not answered may have
 * happened, and only the caller knows whether to ask again.
 */
export function createClient({
  url,
  connection,
  cluster,
  commandTimeoutMs = DEFAULT_COMMAND_TIMEOUT_MS,
}: RedisSessionStorageOptions): RedisClient {
  const careful: RedisOptions = {
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: commandTimeoutMs,
    // What does not answer does not say goodbye either.
    disconnectTimeout: 100,
  };
  if (cluster) {
    return new Cluster([...cluster], {
      redisOptions: { ...connection, ...careful },
      lazyConnect: true,
      // Connections to nodes are made when they are first needed, and what needs one waits for it.
      enableOfflineQueue: true,
      scaleReads: 'master',
      clusterRetryStrategy: reconnectDelay,
      slotsRefreshTimeout: commandTimeoutMs,
      // Else a command that was cut off is sent again.
      retryDelayOnFailover: 0,
    });
  }
  const options: RedisOptions = {
    // A master that became a replica is left for the new master, which Sentinel knows.
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
    retryStrategy: reconnectDelay,
    // A master that Sentinel replaced takes writes for some seconds more, which are lost when it follows the new one.
    ...(connection?.sentinels && { failoverDetector: true }),
    ...connection,
    ...careful,
    lazyConnect: true,
    enableOfflineQueue: false,
  };
  return url === undefined ? new Redis(options) : new Redis(url, options);
}

/** A client to the same server that only listens. Whoever made the other one decided all else, such as how to log in. */
export function subscriberOf(client: Redis, timeoutMs: number): Redis {
  return client.duplicate({
    keyPrefix: '',
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: reconnectDelay,
    connectTimeout: timeoutMs,
    disconnectTimeout: 100,
    readOnly: false,
  });
}

function reconnectDelay(attempt: number): number {
  return Math.min(50 * attempt, LONGEST_RECONNECT_DELAY_MS);
}
