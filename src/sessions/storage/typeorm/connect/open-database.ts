import type { DataSource } from 'typeorm';
import { ConfigurationError } from '../../../../config/configuration-error.js';
import { dataSourceServerOf } from '../../../../config/store-place.js';
import { StoreUnavailableError } from '../../../domain/errors/errors.js';
import { withTimeout } from '../../../domain/process/timeouts.js';
import { dialectOf } from '../sql/dialect.js';
import { Sql } from '../sql/sql.js';
import { checkNames, checkNamesOf } from '../tables.js';
import type { HostDataSourceOptions, TypeOrmSessionStorageOptions } from '../typeorm-options.js';
import { databaseTimedOut, isConnectionLost, storeUnavailable } from './driver-errors.js';
import { hasTables } from './executed-migrations.js';
import type { OpenDatabase } from './lazy-database.js';
import { checkHostMysql } from './mysql/mysql-server.js';
import { openPooledDatabase, connectionPoolOf } from './open-pool.js';
import { openServer } from './open-server.js';
import { checkPostgres } from './postgres/postgres-server.js';
import type { RunQuery } from './server-kind.js';
import { sqliteDatabaseOf, openSqlite } from './sqlite/open-sqlite.js';

export const DEFAULT_TIME_LIMIT_MS = 5_000;

export async function openDatabase(options: TypeOrmSessionStorageOptions): Promise<OpenDatabase> {
  const timeLimitMs = options.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS;
  if ('dataSource' in options) return openHostDatabase({ ...options, timeLimitMs });
  checkNames(options);
  if ('url' in options) return openServer({ ...options, timeLimitMs });
  return openSqlite({ ...options, timeLimitMs });
}

/** Opens a database whose tables are there. Creates nothing, and needs no right to. */
export async function openExistingDatabase(options: TypeOrmSessionStorageOptions): Promise<OpenDatabase> {
  const timeLimitMs = options.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS;
  if ('dataSource' in options) return openHostDatabase({ ...options, timeLimitMs });
  checkNames(options);
  if ('url' in options) return openServer({ ...options, timeLimitMs }, checkTables);
  return openSqlite({ ...options, timeLimitMs }, checkTables);
}

/** Opens the store on a DataSource of the app. The store never initialises or closes it, and adds only a subscriber. */
async function openHostDatabase(
  options: HostDataSourceOptions & { readonly timeLimitMs: number },
): Promise<OpenDatabase> {
  const { dataSource } = options;
  const { name } = dialectOf(dataSource.options.type);
  if (!dataSource.isInitialized) {
    throw new ConfigurationError(['The DataSource is not initialised: call its initialize() first.']);
  }
  checkNamesOf(dataSource);
  const server = dataSourceServerOf(dataSource.options);
  const runQuery: RunQuery = name === 'sqlite' ? (query) => dataSource.query(query) : queryWithTimeout(options);
  try {
    if (name === 'mysql') await checkHostMysql(runQuery);
    if (name === 'postgres') await checkPostgres(runQuery);
    await checkTables(dataSource, runQuery);
  } catch (error) {
    throw storeUnavailable(error, false, server);
  }
  const use = { ...options, isOfApp: true, close: keepOpen };
  return name === 'sqlite' ? sqliteDatabaseOf(dataSource, use) : openPooledDatabase(dataSource, { ...use, server });
}

async function keepOpen(): Promise<void> {}

/** Runs queries on a pooled connection, and destroys the connection if it does not answer in time. */
function queryWithTimeout({
  dataSource,
  timeLimitMs,
}: HostDataSourceOptions & { readonly timeLimitMs: number }): RunQuery {
  const pool = connectionPoolOf(dataSource, {});
  const late = (): Error => databaseTimedOut(timeLimitMs, false, dataSourceServerOf(dataSource.options));
  return async <Row>(query: string) => {
    let isLate = false;
    const taking = pool.acquire().then((taken) => {
      if (isLate) taken.release();
      return taken;
    });
    const connection = await withTimeout(timeLimitMs, taking, () => {
      isLate = true;
      return late();
    });
    try {
      const rows = await withTimeout(timeLimitMs, connection.rows<Row>(new Sql(query)), late);
      connection.release();
      return rows;
    } catch (error) {
      if (isConnectionLost(error) || error instanceof StoreUnavailableError) connection.discard();
      else connection.release();
      throw error;
    }
  };
}

async function checkTables(dataSource: DataSource, runQuery?: RunQuery): Promise<void> {
  if (await hasTables(dataSource, runQuery)) return;
  throw new ConfigurationError([
    'The DataSource lacks the tables of sessions: add SESSION_MIGRATIONS to its migrations and run them, also after an update.',
  ]);
}
