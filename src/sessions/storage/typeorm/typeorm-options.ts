import type { DataSource } from 'typeorm';
import type { TlsChoice } from '../../../config/tls-settings.js';
import type { Clock } from '../../domain/process/clock.js';

/** Options of every database. */
interface CommonOptions {
  /** Time limit of an operation, including waits for locks and connections. Default: 5,000. */
  readonly timeLimitMs?: number | undefined;
  /** Whether appends that wait at the same time share a transaction. Default: `true`. */
  readonly coalesceAppends?: boolean | undefined;
  /** Default: the clock of the database server, or of this machine with SQLite. */
  readonly clock?: Clock | undefined;
}

/** A SQLite file. */
export interface SqliteOptions extends CommonOptions {
  /** Path of the file, or `:memory:`. */
  readonly database: string;
  /** The driver module: `libsql` (default) or `better-sqlite3`. */
  readonly driver?: unknown;
  /** Prefix of the names of all tables and indexes. */
  readonly tablePrefix?: string | undefined;
}

/** A read replica of a server. */
export interface ReplicaOptions extends Pick<
  ServerOptions,
  'url' | 'tls' | 'poolSize' | 'preparedStatements' | 'pooler' | 'driverOptions'
> {
  /** Time limit of a read; the primary answers after it. Default: that of the store. */
  readonly timeLimitMs?: number | undefined;
  /** How far the replica may be behind. Default: 5,000. */
  readonly maxLagMs?: number | undefined;
  /** Hears when the replica is left, and when it is used again. Default: a warning on the console. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** A MySQL, MariaDB or PostgreSQL server. */
export interface ServerOptions extends CommonOptions {
  /**
   * `mysql://`, `mariadb://` or `postgres://`, with user, password, host, port and database. The query may set TLS, such as
   * `sslmode=verify-full` for PostgreSQL and `ssl-mode=VERIFY_IDENTITY` for MySQL. Unknown options are refused.
   */
  readonly url: string;
  /** TLS of the connections. Default: what the URL says, else no TLS. */
  readonly tls?: TlsChoice | undefined;
  /** Prefix of the names of all tables and indexes. */
  readonly tablePrefix?: string | undefined;
  /** Schema of the tables, created if it does not exist. PostgreSQL only. */
  readonly schema?: string | undefined;
  /** Maximum number of connections. Default: 10. */
  readonly poolSize?: number | undefined;
  /** Whether to use prepared statements. PostgreSQL only. Default: `true`, but `false` with `pooler`. */
  readonly preparedStatements?: boolean | undefined;
  /**
   * Says that a pooler such as PgBouncer is in front of PostgreSQL, in transaction or session mode. Then no connection is expected to
   * remember anything: statements are not prepared, time limits are those of the user of the database, and nothing listens.
   */
  readonly pooler?: 'transaction' | undefined;
  /** The same database without the pooler, for notifications over one connection. Without it, watches poll. */
  readonly listenUrl?: string | undefined;
  /** More options for the driver. */
  readonly driverOptions?: Readonly<Record<string, unknown>> | undefined;
  /** A read replica of the server. Reads that may be a little old go to it: see `readsOf`. Its tables have the same names. */
  readonly reads?: ReplicaOptions | undefined;
}

/**
 * A DataSource of the app, which the app initialises and closes. Its prefix and schema apply, and its migrations
 * include `SESSION_MIGRATIONS`.
 */
export interface HostDataSourceOptions extends CommonOptions {
  readonly dataSource: DataSource;
}

/** A SQLite file, a database server, or a DataSource of the app. */
export type TypeOrmSessionStorageOptions = SqliteOptions | ServerOptions | HostDataSourceOptions;
