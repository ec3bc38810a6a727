import type { HostAndPort } from './redis-address.js';

/** Redis, told by what belongs to no package, so that these types need none. */
export interface RedisSettings {
  /** `redis://` or `rediss://`. */
  readonly url?: string | undefined;
  /** A client of ioredis that the app has already; it stays the app's. */
  readonly client?: object | undefined;
  /** What else ioredis is to know, such as `password`, `tls` or `sentinels` and `name`. */
  readonly connection?: Readonly<Record<string, unknown>> | undefined;
  /** Some nodes of a cluster. */
  readonly cluster?: readonly HostAndPort[] | undefined;
  readonly prefix?: string | undefined;
  readonly commandTimeoutMs?: number | undefined;
  readonly waitReplicas?: { readonly count: number; readonly timeoutMs: number } | undefined;
}

/** A database, told in the same way. */
export interface DatabaseSettings {
  /** Path of a SQLite file. */
  readonly database?: string | undefined;
  /** `mysql://`, `mariadb://` or `postgres://`. */
  readonly url?: string | undefined;
  /** A DataSource that the app has already; it stays the app's, and so do its prefix and schema. */
  readonly dataSource?: object | undefined;
  readonly poolSize?: number | undefined;
  readonly tablePrefix?: string | undefined;
  readonly schema?: string | undefined;
  readonly preparedStatements?: boolean | undefined;
  readonly timeLimitMs?: number | undefined;
  readonly coalesceAppends?: boolean | undefined;
  /** What else the driver is to be told, such as `ssl`. */
  readonly driverOptions?: Readonly<Record<string, unknown>> | undefined;
}

/** Which store keeps the sessions, and where it is. */
export type StoreSettings =
  | { readonly provider: 'memory' }
  | { readonly provider: 'redis'; readonly redis?: RedisSettings | undefined }
  | { readonly provider: 'typeorm'; readonly database?: DatabaseSettings | undefined };
