import type { DataSource } from 'typeorm';
import { ConfigurationError } from '../../../config/configuration-error.js';
import { dialectOf } from './dialects.js';
import { codeOf, storeUnavailable } from './driver-errors.js';
import type { OpenDatabase } from './lazy-database.js';
import { checkHostMysql } from './mysql/mysql-server.js';
import { checkPostgres } from './postgres/postgres-server.js';
import { openPool } from './servers/open-pool.js';
import { openFile } from './sqlite/open-file.js';
import { checkNamesOf } from './table-names.js';
import { tablesOf } from './tables.js';
import type { HostDataSourceOptions } from './typeorm-options.js';

/** The store over a DataSource of the app, which stays the app's: nobody here opens, changes or closes it. */
export async function openHostDatabase(
  options: HostDataSourceOptions & { readonly timeLimitMs: number },
): Promise<OpenDatabase> {
  const { dataSource } = options;
  const { name } = dialectOf(dataSource.options.type);
  if (!dataSource.isInitialized) {
    throw new ConfigurationError(['The DataSource is not initialised: call its initialize() first.']);
  }
  checkNamesOf(dataSource);
  try {
    if (name === 'mysql') await checkHostMysql(dataSource);
    if (name === 'postgres') await checkPostgres(dataSource);
    await checkTables(dataSource);
  } catch (error) {
    throw storeUnavailable(error, false);
  }
  const open = name === 'sqlite' ? openFile : openPool;
  return open(dataSource, { ...options, close: leaveOpen });
}

async function leaveOpen(): Promise<void> {}

async function checkTables(dataSource: DataSource): Promise<void> {
  try {
    for (const table of Object.values(tablesOf(dataSource))) {
      await dataSource.query(`SELECT 1 FROM ${table.text} WHERE 1 = 0`);
    }
  } catch (error) {
    if (!/^(42P01|ER_NO_SUCH_TABLE|SQLITE_ERROR)$/.test(codeOf(error))) throw error;
    throw new ConfigurationError([
      'The DataSource lacks the tables of sessions: add SESSION_MIGRATIONS to its migrations and run them.',
    ]);
  }
}
