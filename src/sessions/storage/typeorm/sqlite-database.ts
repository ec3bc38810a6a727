import { setTimeout as delay } from 'node:timers/promises';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { StoreUnavailableError } from '../../domain/errors.js';
import { isBusy, storeUnavailable } from './driver-errors.js';
import { CreateSessionTables1763700000000 } from './migrations/1763700000000-create-session-tables.js';
import { SharedCommits } from './shared-commits.js';
import { SqliteTransactions } from './sqlite-transactions.js';
import { SESSION_ENTITIES, type Tables, tablesOf } from './tables.js';

export interface SqliteOptions {
  /** Path of the file, or `:memory:`. */
  readonly database: string;
  /** The driver; `libsql` unless given. The module of `better-sqlite3` fits as well. */
  readonly driver?: unknown;
  /** Stands in front of the names of all tables. */
  readonly tablePrefix?: string | undefined;
  /** How long an operation may wait for other processes that write to the file. */
  readonly timeLimitMs?: number | undefined;
}

/** What an open database offers. */
interface OpenDatabase {
  readonly dataSource: DataSource;
  readonly transactions: SqliteTransactions;
  readonly commits: SharedCommits;
  readonly tables: Tables;
}

/** The driver waits this long itself, during which this process stands still; longer waits are made without it. */
const DRIVER_WAIT_MS = 5;
const DEFAULT_TIME_LIMIT_MS = 5_000;

/** A SQLite file with the tables of the session store, opened when it is first needed. */
export class SqliteDatabase {
  readonly #timeLimitMs: number;
  #opening: Promise<OpenDatabase> | undefined;
  #isClosed = false;

  constructor(private readonly options: SqliteOptions) {
    this.#timeLimitMs = options.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS;
  }

  open(): Promise<OpenDatabase> {
    if (this.#isClosed) throw new StoreUnavailableError('The session store is closed.', false);
    this.#opening ??= this.#open().catch((error: unknown) => {
      // So that the next call tries again.
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  /** Waits for what is under way. A second close does nothing. */
  async close(): Promise<void> {
    const opening = this.#opening;
    this.#isClosed = true;
    this.#opening = undefined;
    const database = await opening?.catch(() => undefined);
    if (!database) return;
    await database.commits.finished();
    await database.transactions.finished();
    // So that the file is whole by itself, without the log beside it; another process at work may prevent it.
    await database.dataSource.query('PRAGMA wal_checkpoint(TRUNCATE)').catch(() => undefined);
    await database.dataSource.destroy();
  }

  async #open(): Promise<OpenDatabase> {
    const driver = this.options.driver ?? (await loadLibsql());
    const dataSource = new DataSource(dataSourceOptions({ ...this.options, driver }));
    await this.#waiting(() => dataSource.initialize());
    await this.#waiting(() => migrate(dataSource)).catch(async (error: unknown) => {
      await dataSource.destroy();
      throw error;
    });
    const transactions = new SqliteTransactions(dataSource, this.#timeLimitMs);
    return { dataSource, transactions, commits: new SharedCommits(transactions), tables: tablesOf(dataSource) };
  }

  /** Several processes may open one new file at the same time; whoever is late waits. */
  async #waiting<Result>(work: () => Promise<Result>): Promise<Result> {
    const deadline = performance.now() + this.#timeLimitMs;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw storeUnavailable(error, false);
        await delay(Math.random() * 2 * DRIVER_WAIT_MS);
      }
    }
  }
}

function dataSourceOptions({ database, driver, tablePrefix }: SqliteOptions): DataSourceOptions {
  return {
    type: 'better-sqlite3',
    driver,
    database,
    timeout: DRIVER_WAIT_MS,
    entities: [...SESSION_ENTITIES],
    entityPrefix: tablePrefix,
    migrations: [CreateSessionTables1763700000000],
    migrationsTableName: `${tablePrefix ?? ''}agent_session_migrations`,
    logging: false,
    prepareDatabase,
  };
}

function prepareDatabase(connection: { exec(text: string): unknown; close(): unknown }): void {
  try {
    connection.exec(`PRAGMA busy_timeout = ${DRIVER_WAIT_MS}`);
    connection.exec('PRAGMA journal_mode = WAL');
    // An append is acknowledged when it is on the disk, not when it is on its way there.
    connection.exec('PRAGMA synchronous = FULL');
  } catch (error) {
    connection.close();
    throw error;
  }
}

async function loadLibsql(): Promise<unknown> {
  try {
    return (await import('libsql')).default;
  } catch {
    throw new StoreUnavailableError('The SQLite store needs the package libsql: run `npm install libsql`.', false);
  }
}

/** Under the write lock, so that of several processes one creates the tables. */
async function migrate(dataSource: DataSource): Promise<void> {
  await dataSource.query('BEGIN IMMEDIATE');
  try {
    await dataSource.runMigrations({ transaction: 'none' });
    await dataSource.query('COMMIT');
  } catch (error) {
    await dataSource.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
