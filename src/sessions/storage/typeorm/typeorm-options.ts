import type { DataSource } from 'typeorm';
import type { Clock } from '../../domain/clock.js';

/** What holds for every database. */
export interface CommonOptions {
  /** How long an operation may take, waiting for others included; 5,000 unless given. */
  readonly timeLimitMs?: number | undefined;
  /** Whether appends that wait at the same time share a transaction, which saves waiting; on unless switched off. */
  readonly coalesceAppends?: boolean | undefined;
  /** Where the time comes from; the database's own clock unless given (with SQLite, this machine's). */
  readonly clock?: Clock | undefined;
}

/** A SQLite file. */
export interface SqliteOptions extends CommonOptions {
  /** Path of the file, or `:memory:`. */
  readonly database: string;
  /** The driver; `libsql` unless given. The module of `better-sqlite3` fits as well. */
  readonly driver?: unknown;
  /** Stands in front of the names of all tables. */
  readonly tablePrefix?: string | undefined;
}

/** A MySQL, MariaDB or PostgreSQL server. */
export interface ServerOptions extends CommonOptions {
  /** `mysql://`, `mariadb://` or `postgres://`, with user, password, host, port and database. */
  readonly url: string;
  /** Stands in front of the names of all tables. */
  readonly tablePrefix?: string | undefined;
  /** Where the tables are; PostgreSQL only. Made if there is none. */
  readonly schema?: string | undefined;
  /** Connections to keep at most; 10 unless given. */
  readonly poolSize?: number | undefined;
  /** Whether the server remembers how to run statements; PostgreSQL only. Off behind a pooler that shares connections. */
  readonly preparedStatements?: boolean | undefined;
  /** What else the driver is to be told, such as `ssl`. */
  readonly driverOptions?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * A DataSource of the app, initialised and closed by the app. Prefix and schema are its own, and so are the
 * tables: it has `SESSION_MIGRATIONS` among its migrations.
 */
export interface HostDataSourceOptions extends CommonOptions {
  readonly dataSource: DataSource;
}

/** Where the tables are: in a file, on a server, or behind a DataSource of the app. */
export type TypeOrmSessionStorageOptions = SqliteOptions | ServerOptions | HostDataSourceOptions;
