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
  /** Stands in front of all keys; `agent-sessions:` unless given. */
  readonly prefix?: string | undefined;
  /** How long a call may take; 2,000 unless given. */
  readonly commandTimeoutMs?: number | undefined;
  /** Acknowledges a write only when so many replicas have it. */
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
  /** Connections to a server at most; 10 unless given. */
  readonly poolSize?: number | undefined;
  /** Stands in front of the names of all tables. */
  readonly tablePrefix?: string | undefined;
  /** Where the tables are; PostgreSQL only. */
  readonly schema?: string | undefined;
  /** Whether PostgreSQL remembers how to run statements; off behind a pooler that shares connections. */
  readonly preparedStatements?: boolean | undefined;
  /** How long an operation may take; 5,000 unless given. */
  readonly timeLimitMs?: number | undefined;
  /** Whether appends that wait together share a transaction; on unless switched off. */
  readonly coalesceAppends?: boolean | undefined;
  /** What else the driver is to be told, such as `ssl`. */
  readonly driverOptions?: Readonly<Record<string, unknown>> | undefined;
}

/** Which store keeps the sessions, and where it is. */
export type StoreSettings =
  | { readonly provider: 'memory' }
  | { readonly provider: 'redis'; readonly redis?: RedisSettings | undefined }
  | { readonly provider: 'typeorm'; readonly database?: DatabaseSettings | undefined };
