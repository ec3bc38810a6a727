import { setTimeout as delay } from 'node:timers/promises';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { ConfigurationError } from '../../../../config/configuration-error.js';
import { InvalidInputError } from '../../../domain/errors.js';
import { isBusy } from '../driver-errors.js';
import type { OpenDatabase } from '../lazy-database.js';
import { SESSION_MIGRATIONS, migrationsTableName } from '../migrations/index.js';
import type { SqliteOptions } from '../typeorm-options.js';
import { openFile } from './open-file.js';
import { openingFailure } from './opening-failure.js';

/** The driver waits this long itself, during which this process stands still; longer waits are made without it. */
const DRIVER_WAIT_MS = 5;

/** Opens a SQLite file and brings its tables up to date. Its time is this machine's. */
export async function openSqlite(options: SqliteOptions & { readonly timeLimitMs: number }): Promise<OpenDatabase> {
  // SQLite would keep what has no name as long as it is open; and drivers do not agree on URIs.
  if (/^(file:|\s*$)/i.test(options.database)) {
    throw new InvalidInputError('must be the path of a file, without file:, or :memory:', 'database');
  }
  const driver = options.driver ?? (await loadLibsql());
  const dataSource = new DataSource(dataSourceOptions({ ...options, driver }));
  const deadline = performance.now() + options.timeLimitMs;
  try {
    await waitingUntil(deadline, () => dataSource.initialize());
    await waitingUntil(deadline, () => migrate(dataSource));
  } catch (error) {
    if (dataSource.isInitialized) await dataSource.destroy();
    throw openingFailure(error, options.database);
  }
  return openFile(dataSource, { ...options, close: () => closeFile(dataSource) });
}

async function closeFile(dataSource: DataSource): Promise<void> {
  // So that the file is whole by itself, without the log beside it; another process at work may prevent it.
  await dataSource.query('PRAGMA wal_checkpoint(TRUNCATE)').catch(() => undefined);
  await dataSource.destroy();
}

/** Several processes may open one new file at the same time; whoever is late waits. */
async function waitingUntil<Result>(deadline: number, work: () => Promise<Result>): Promise<Result> {
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
    throw new ConfigurationError(['The SQLite store needs the package libsql: run `npm install libsql`.']);
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
