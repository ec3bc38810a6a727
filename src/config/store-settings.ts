import type { HostAndPort } from './redis-address.js';
import type { TlsChoice } from './tls-settings.js';

/** Settings of Redis. These types need no optional package. */
export interface RedisSettings {
  /** `redis://` or `rediss://`. */
  readonly url?: string | undefined;
  /** An ioredis client of the app. The app closes it. */
  readonly client?: object | undefined;
  /** Further options of ioredis, such as `password`, or `sentinels` and `name`. */
  readonly connection?: Readonly<Record<string, unknown>> | undefined;
  /** Some nodes of a cluster. */
  readonly cluster?: readonly HostAndPort[] | undefined;
  /** TLS of all connections, including Sentinels and nodes. Default: on for `rediss://`. */
  readonly tls?: TlsChoice | undefined;
  /** Prefix of all keys. Default: `agent-sessions:`. */
  readonly prefix?: string | undefined;
  /** Timeout of a call. Default: 2,000. */
  readonly commandTimeoutMs?: number | undefined;
  /** Acknowledges a write only after this number of replicas has it. */
  readonly waitReplicas?: { readonly count: number; readonly timeoutMs: number } | undefined;
}

/** Settings of a SQL database. */
export interface DatabaseSettings {
  /** Path of a SQLite file. */
  readonly database?: string | undefined;
  /** `mysql://`, `mariadb://` or `postgres://`. */
  readonly url?: string | undefined;
  /** TLS of connections to a server. Default: as in the options of the URL, else off. */
  readonly tls?: TlsChoice | undefined;
  /** A DataSource of the app. The app closes it. Its prefix and schema apply. */
  readonly dataSource?: object | undefined;
  /** Maximum number of connections to a server. Default: 10. */
  readonly poolSize?: number | undefined;
  /** Prefix of all table names. */
  readonly tablePrefix?: string | undefined;
  /** Schema of the tables; PostgreSQL only. */
  readonly schema?: string | undefined;
  /** Whether to use prepared statements of PostgreSQL. Switch off behind a pooler that shares connections. */
  readonly preparedStatements?: boolean | undefined;
  /** Timeout of an operation. Default: 5,000. */
  readonly timeLimitMs?: number | undefined;
  /** Whether waiting appends share a transaction. Default: true. */
  readonly coalesceAppends?: boolean | undefined;
  /** Further options of the server's driver. */
  readonly driverOptions?: Readonly<Record<string, unknown>> | undefined;
}

/** The provider of the store, and its settings. */
export type StoreSettings =
  | { readonly provider: 'memory' }
  | { readonly provider: 'redis'; readonly redis?: RedisSettings | undefined }
  | { readonly provider: 'typeorm'; readonly database?: DatabaseSettings | undefined };
