import { existsSync } from 'node:fs';
import type { DataSource } from 'typeorm';
import { InvalidInputError } from '../../../domain/errors.js';
import { migrationsTableName, SESSION_MIGRATIONS } from '../migrations/index.js';
import { schemaOf } from '../tables.js';
import type { TypeOrmSessionStorageOptions } from '../typeorm-options.js';
import { DEFAULT_TIME_LIMIT_MS } from './open-database.js';
import { withServer } from './open-server.js';
import { withSqlite } from './sqlite/open-sqlite.js';

/** Which migrations have run, by name, in their order. */
export interface SchemaStatus {
  readonly executed: readonly string[];
  readonly pending: readonly string[];
}

/** Reads which migrations a database has. Creates nothing, not even a file. */
export async function schemaStatus(options: TypeOrmSessionStorageOptions): Promise<SchemaStatus> {
  const { timeLimitMs = DEFAULT_TIME_LIMIT_MS } = options;
  if ('dataSource' in options) throw new InvalidInputError('has migrations of its own', 'dataSource');
  if ('url' in options) return statusOf(await withServer({ ...options, timeLimitMs }, executedMigrations));
  if (!existsSync(options.database)) return statusOf([]);
  return statusOf(await withSqlite({ ...options, timeLimitMs }, executedMigrations));
}

function statusOf(executed: readonly string[]): SchemaStatus {
  const names = SESSION_MIGRATIONS.map(({ name }) => name);
  return { executed, pending: names.filter((name) => !executed.includes(name)) };
}

async function executedMigrations(dataSource: DataSource): Promise<string[]> {
  const parts = [schemaOf(dataSource), migrationsTableName(dataSource.options.entityPrefix)];
  const path = parts.filter((part) => part !== undefined);
  const runner = dataSource.createQueryRunner();
  try {
    if (!(await runner.hasTable(path.join('.')))) return [];
    const table = path.map((part) => dataSource.driver.escape(part)).join('.');
    const rows: unknown = await runner.query(`SELECT name FROM ${table} ORDER BY timestamp`);
    return (rows as { name: string }[]).map(({ name }) => name);
  } finally {
    await runner.release();
  }
}
