import type { DataSource, QueryRunner } from 'typeorm';
import { SESSION_MIGRATIONS, migrationsTableName } from '../migrations/index.js';
import { MIGRATION_MARKS } from '../migrations/migration-marks.js';
import { schemaOf, tableNamesOf } from '../tables.js';

/** Which migrations have run. */
export interface ExecutedMigrations {
  /** Their names, in their order. */
  readonly names: readonly string[];
  /** Whether the app ran them: the store has not noted them. */
  readonly isOfApp: boolean;
}

/** The migrations that have run: those that the store noted, or else those that the tables show. Creates nothing. */
export async function executedMigrations(dataSource: DataSource): Promise<ExecutedMigrations> {
  return withRunner(dataSource, async (runner) => {
    const noted = await notedBy(dataSource, runner);
    if (noted) return { names: noted, isOfApp: false };
    const names = await shownByTables(dataSource, runner);
    return { names, isOfApp: names.length > 0 };
  });
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
  const path = pathOf(dataSource, migrationsTableName(dataSource.options.entityPrefix));
  if (!(await runner.hasTable(path.join('.')))) return undefined;
  const table = path.map((part) => dataSource.driver.escape(part)).join('.');
  const rows: unknown = await runner.query(`SELECT name FROM ${table} ORDER BY timestamp`);
  return (rows as { name: string }[]).map(({ name }) => name);
}

/** Up to the first one that left no mark. */
async function shownByTables(dataSource: DataSource, runner: QueryRunner): Promise<string[]> {
  const tables = tableNamesOf(dataSource);
  const names: string[] = [];
  for (const [index, [table, column]] of MIGRATION_MARKS.entries()) {
    const path = pathOf(dataSource, tables[table]).join('.');
    if (!(await runner.hasTable(path)) || !(await runner.hasColumn(path, column))) break;
    names.push(SESSION_MIGRATIONS[index]?.name ?? '');
  }
  return names;
}

function pathOf(dataSource: DataSource, table: string): string[] {
  return [schemaOf(dataSource), table].filter((part) => part !== undefined);
}
