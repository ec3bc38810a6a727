import type { Cluster, ClusterNode, Redis, RedisOptions } from 'ioredis';
import { REDIS } from '../../../../config/store-settings.js';
import type { TlsChoice } from '../../../../config/tls-settings.js';
import type { Clock } from '../../../domain/process/clock.js';

/** An ioredis client of a node or of a cluster. */
export type RedisClient = Redis | Cluster;

/** Where Redis is and how it is used. */
export interface RedisSessionStorageOptions {
  /** Your own client, of a node or of a cluster. It is used as it is and never closed. */
  readonly client?: RedisClient | undefined;
  /** `redis://` or `rediss://`. The default without `client`, `cluster` and `connection` is `redis://127.0.0.1:6379`. */
  readonly url?: string | undefined;
  /** Encrypts all connections, also to Sentinels and cluster nodes. With `rediss://` the server is verified by default. */
  readonly tls?: TlsChoice | undefined;
  /** Other ioredis options, such as `password`, or `sentinels` and `name`. For a cluster they apply to each node. */
  readonly connection?: RedisOptions | undefined;
  /** Some nodes of a cluster; the client finds the others through them. */
  readonly cluster?: readonly ClusterNode[] | undefined;
  /** The prefix of all keys; default `agent-sessions:`. */
  readonly prefix?: string | undefined;
  /** The source of time; default is the clock of the server. */
  readonly clock?: Clock | undefined;
  /** The time limit of a call, including the wait for a connection; default 2,000. */
  readonly commandTimeoutMs?: number | undefined;
  /** Acknowledges a write only when enough replicas have it. */
  readonly waitReplicas?: WaitReplicas | undefined;
}

/** How many replicas must have a write before it is acknowledged. */
export interface WaitReplicas {
  readonly count: number;
  /** How long to wait for the replicas. */
  readonly timeoutMs: number;
}

export const DEFAULT_PREFIX = REDIS.prefix.default;
export const DEFAULT_COMMAND_TIMEOUT_MS = REDIS.commandTimeoutMs.default;
