import { mkdir, open, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { ConfigurationError } from '../../../../../config/configuration-error.js';
import { installCommand } from '../../../../../config/install-command.js';
import { type Clock, systemClock } from '../../../../domain/process/clock.js';
import { InvalidInputError, StoreUnavailableError } from '../../../../domain/errors/errors.js';
import { appTransactionsOf } from '../../append/append-within.js';
import { migrationsTableName, SESSION_MIGRATIONS } from '../../schema/migrations.js';
import { SearchPlace } from '../../search/search-place.js';
import type { SqliteOptions } from '../../typeorm-options.js';
import { findDriverErrorCode, isBusy, isError, storeUnavailable } from '../driver-errors.js';
import type { OpenDatabase } from '../lazy-database.js';
import { lentSqliteConnection } from './sqlite-statements.js';
import { SqliteTransactions } from './sqlite-transactions.js';

/** How long the driver waits for a lock, which blocks the event loop. Longer waits use timers. */
const DRIVER_WAIT_MS = 5;

/**
 * Opens a SQLite file and runs the migrations.
 *
 * @param check does this instead of the migrations
 */
export async function openSqlite(
  options: SqliteOptions & { readonly timeLimitMs: number },
  check?: (dataSource: DataSource) => Promise<void>,
): Promise<OpenDatabase> {
  // SQLite deletes a file without a name on close, drivers treat URIs differently, and a server is not a file.
  if (/^(file:|(libsql|https?|wss?):\/\/|\s*$)/i.test(options.database)) {
    throw new InvalidInputError('must be the path of a file, without file:, or :memory:', 'database');
  }
  const driver = callable(options.driver ?? (await loadLibsql()));
  const dataSource = new DataSource(dataSourceOptions({ ...options, driver }));
  const deadline = performance.now() + options.timeLimitMs;
  try {
    if (!check && options.database !== ':memory:') await makePrivateFile(options.database);
    await retryWhileBusy(deadline, () => dataSource.initialize());
    await retryWhileBusy(deadline, () => (check ?? migrate)(dataSource));
  } catch (error) {
    if (dataSource.isInitialized) await dataSource.destroy();
    throw await openingFailure(error, options.database);
  }
  return sqliteDatabaseOf(dataSource, { ...options, creates: !check, close: () => closeFile(dataSource) });
}

/** Opens a SQLite file that exists for a short work that changes nothing. */
export async function withSqlite<Result>(
  options: SqliteOptions & { readonly timeLimitMs: number },
  work: (dataSource: DataSource) => Promise<Result>,
): Promise<Result> {
  const driver = callable(options.driver ?? (await loadLibsql()));
  const dataSource = new DataSource(dataSourceOptions({ ...options, driver }));
  const deadline = performance.now() + options.timeLimitMs;
  try {
    await retryWhileBusy(deadline, () => dataSource.initialize());
    return await retryWhileBusy(deadline, () => work(dataSource));
  } catch (error) {
    throw await openingFailure(error, options.database);
  } finally {
    if (dataSource.isInitialized) await dataSource.destroy();
  }
}

async function closeFile(dataSource: DataSource): Promise<void> {
  // Moves the log into the file, unless another process uses it.
  await dataSource.query('PRAGMA wal_checkpoint(TRUNCATE)').catch(() => undefined);
  await dataSource.destroy();
}

/** Several processes may open a new file at the same time. */
async function retryWhileBusy<Result>(deadline: number, work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      await delay(Math.random() * 2 * DRIVER_WAIT_MS);
    }
  }
}

function dataSourceOptions({ database, driver, tablePrefix }: SqliteOptions): DataSourceOptions {
  return {
    type: 'better-sqlite3',
    driver,
    database,
    timeout: DRIVER_WAIT_MS,
    entityPrefix: tablePrefix,
    migrations: [...SESSION_MIGRATIONS],
    migrationsTableName: migrationsTableName(tablePrefix),
    logging: false,
    prepareDatabase,
  };
}

/** 16 MB. */
const WAL_PAGES = 4_000;

function prepareDatabase(connection: { exec(text: string): unknown; close(): unknown }): void {
  try {
    connection.exec(`PRAGMA busy_timeout = ${DRIVER_WAIT_MS}`);
    connection.exec('PRAGMA journal_mode = WAL');
    // An append is acknowledged only when it is on the disk.
    connection.exec('PRAGMA synchronous = FULL');
    // An append changes 7 to 12 pages. With the default of 1,000, every 100th would wait until they are copied.
    connection.exec(`PRAGMA wal_autocheckpoint = ${WAL_PAGES}`);
  } catch (error) {
    connection.close();
    throw error;
  }
}

async function loadLibsql(): Promise<unknown> {
  try {
    return (await import('libsql')).default;
  } catch {
    throw new ConfigurationError([`The SQLite store needs the package libsql: run \`${installCommand('libsql')}\`.`]);
  }
}

/** TypeORM before 1.0 calls the driver without `new`. */
function callable(driver: unknown): unknown {
  if (typeof driver !== 'function') return driver;
  return function (...settings: unknown[]): unknown {
    return Reflect.construct(driver, settings) as unknown;
  };
}

/** Under the write lock, so that only one process creates the tables. */
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

interface SqliteDatabaseOptions {
  readonly timeLimitMs: number;
  /** Default: the clock of this machine. */
  readonly clock?: Clock | undefined;
  /** Whether the DataSource is the app's, which has transactions of its own. */
  readonly isOfApp?: boolean | undefined;
  /** Whether the store may create tables. */
  readonly creates?: boolean | undefined;
  readonly close: () => Promise<void>;
}

/** Opens the store on an initialised SQLite DataSource that has the tables. */
export function sqliteDatabaseOf(
  dataSource: DataSource,
  { timeLimitMs, clock = systemClock, isOfApp = false, creates = false, close }: SqliteDatabaseOptions,
): OpenDatabase {
  const transactions = new SqliteTransactions(dataSource, { clock, timeLimitMs });
  const search = new SearchPlace(dataSource, creates);
  if (!isOfApp) return { transactions, search, close };
  const appTransactions = appTransactionsOf({
    dataSource,
    context: transactions.context,
    clock,
    timeLimitMs,
    transactions,
    borrow: lentSqliteConnection,
    beforeStart: () => transactions.currentEnded(),
    beforeStatement: () => transactions.appStatementBegins(),
    afterStatement: () => transactions.appStatementEnded(),
  });
  const closeAll = async (): Promise<void> => {
    appTransactions.close();
    await close();
  };
  return { transactions, appTransactions, search, close: closeAll };
}

const OWNER_ONLY_FOLDER = 0o700;
const OWNER_ONLY_FILE = 0o600;

/**
 * Creates the file and its folders, readable only by the user of this process. SQLite gives the files beside it the same
 * mode. Existing files and folders keep their mode.
 */
async function makePrivateFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: OWNER_ONLY_FOLDER });
  try {
    const file = await open(path, 'wx', OWNER_ONLY_FILE);
    await file.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

const REASONS: Partial<Record<string, string>> = {
  SQLITE_NOTADB: 'it is no SQLite file; give another path',
  SQLITE_CORRUPT: 'it is damaged; restore it, or give another path',
  SQLITE_READONLY: 'it is read-only; let this process write there, or give another path',
  EACCES: 'this process may not write there; allow it, or give another path',
  EPERM: 'this process may not write there; allow it, or give another path',
  EROFS: 'the disk is read-only; give another path',
  EEXIST: 'a part of the path is a file; give another path',
  ENOTDIR: 'a part of the path is a file; give another path',
};
const TABLES_EXIST = 'it has other tables with the names of the session tables; set tablePrefix, or give another path';
const CANNOT_BE_OPENED = 'it must be a file that this process may write, or a new one in a folder where it may';

/** Explains why a file could not be opened. Only a locked file and a full disk are temporary errors. */
async function openingFailure(error: unknown, database: string): Promise<unknown> {
  if (isBusy(error) || !isError(error)) return storeUnavailable(error, false);
  const code = findDriverErrorCode(error);
  const reason = REASONS[code] ?? reasonIn(error);
  const isFull = /^(SQLITE_FULL|ENOSPC)$/.test(code) || (reason === CANNOT_BE_OPENED && (await isDiskFull(database)));
  const cause = new Error(`The database driver reported ${code || 'that it cannot open the file'}`);
  if (isFull) return diskIsFull(database, cause);
  if (reason === undefined) return storeUnavailable(error, false);
  return new ConfigurationError([`SQLite cannot open ${resolve(database)}: ${reason}.`], { cause });
}

/** SQLite also cannot open a file if there is no room for the files beside it, and then does not say why. */
const NEEDED_BYTES = 262_144;

async function isDiskFull(database: string): Promise<boolean> {
  const free = await statfs(dirname(resolve(database))).catch(() => undefined);
  return free !== undefined && free.bavail * free.bsize < NEEDED_BYTES;
}

function diskIsFull(database: string, cause: Error): StoreUnavailableError {
  const publicReason = 'The database cannot be opened: its disk is full.';
  return new StoreUnavailableError(`SQLite cannot open ${resolve(database)}: its disk is full.`, false, {
    publicReason,
    cause,
  });
}

/** Recognises errors by message or by codes of drivers. */
function reasonIn(error: Error): string | undefined {
  if (/\btable .* already exists/.test(error.message)) return TABLES_EXIST;
  const isRefused = /^(SQLITE_(CANTOPEN|READONLY|IOERR)|ENOENT|EISDIR)/.test(findDriverErrorCode(error));
  return isRefused || /unable to open/i.test(error.message) ? CANNOT_BE_OPENED : undefined;
}
