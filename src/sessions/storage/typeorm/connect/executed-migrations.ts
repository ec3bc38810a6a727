import type { DataSource, QueryRunner } from 'typeorm';
import { ALL_TABLES } from '../schema/all-tables.js';
import { SESSION_MIGRATIONS, migrationsTableName } from '../schema/migrations.js';
import type { Table } from '../schema/table.js';
import type { Sql } from '../sql/sql.js';
import { findPostgresSchema, tableNamesOf, tablesOf } from '../tables.js';
import { findDriverErrorCode } from './driver-errors.js';
import type { RunQuery } from './server-kind.js';

/** Which migrations have run. */
export interface ExecutedMigrations {
  /** Their names, in their order. */
  readonly names: readonly string[];
  /** Whether the app ran them: the store has not noted them. */
  readonly isOfApp: boolean;
}

/** The migrations that have run: those that the store noted, or else all, if the tables are there. Creates nothing. */
export async function executedMigrations(dataSource: DataSource): Promise<ExecutedMigrations> {
  return withRunner(dataSource, async (runner) => {
    const noted = await notedBy(dataSource, runner);
    if (noted) return { names: noted, isOfApp: false };
    const isOfApp = await runner.hasTable(listTablePathParts(dataSource, tableNamesOf(dataSource).sessions).join('.'));
    const isComplete = isOfApp && (await hasTables(dataSource));
    return { names: isComplete ? SESSION_MIGRATIONS.map(({ name }) => name) : [], isOfApp };
  });
}

/** Whether every table is there with every column. */
export async function hasTables(
  dataSource: DataSource,
  runQuery: RunQuery = (query) => dataSource.query(query),
): Promise<boolean> {
  const tables = new Map<string, Sql>(Object.entries(tablesOf(dataSource)));
  for (const [key, { columns }] of Object.entries<Table>(ALL_TABLES)) {
    if (!(await hasColumns(tables.get(key)?.text ?? '', Object.keys(columns), runQuery))) return false;
  }
  return true;
}

/** Whether a table is there with these columns. @param path quoted, as in statements */
export async function hasColumns(path: string, columns: readonly string[], runQuery: RunQuery): Promise<boolean> {
  try {
    await runQuery(`SELECT ${columns.join(', ')} FROM ${path} WHERE 1 = 0`);
    return true;
  } catch (error) {
    if (/^(42P01|42703|ER_NO_SUCH_TABLE|ER_BAD_FIELD_ERROR|SQLITE_ERROR)$/.test(findDriverErrorCode(error)))
      return false;
    throw error;
  }
}

/** The migrations that the store noted, by name, in their order. Creates nothing. */
export function notedMigrations(dataSource: DataSource): Promise<readonly string[]> {
  return withRunner(dataSource, async (runner) => (await notedBy(dataSource, runner)) ?? []);
}

async function withRunner<Result>(
  dataSource: DataSource,
  work: (runner: QueryRunner) => Promise<Result>,
): Promise<Result> {
  const runner = dataSource.createQueryRunner();
  try {
    return await work(runner);
  } finally {
    await runner.release();
  }
}

async function notedBy(dataSource: DataSource, runner: QueryRunner): Promise<readonly string[] | undefined> {
  const path = listTablePathParts(dataSource, migrationsTableName(dataSource.options.entityPrefix));
  if (!(await runner.hasTable(path.join('.')))) return undefined;
  const table = path.map((part) => dataSource.driver.escape(part)).join('.');
  const rows: unknown = await runner.query(`SELECT name FROM ${table} ORDER BY timestamp`);
  return (rows as { name: string }[]).map(({ name }) => name);
}

function listTablePathParts(dataSource: DataSource, table: string): string[] {
  return [findPostgresSchema(dataSource), table].filter((part) => part !== undefined);
}
