import { existsSync } from 'node:fs';
import { InvalidInputError } from '../../../domain/errors/errors.js';
import { SESSION_MIGRATIONS } from '../schema/migrations.js';
import type { TypeOrmSessionStorageOptions } from '../typeorm-options.js';
import { type ExecutedMigrations, executedMigrations } from './executed-migrations.js';
import { DEFAULT_TIME_LIMIT_MS } from './open-database.js';
import { withServer } from './open-server.js';
import { withSqlite } from './sqlite/open-sqlite.js';

/** Which migrations have run, by name, in their order. */
export interface SchemaStatus {
  readonly executed: readonly string[];
  readonly pending: readonly string[];
  /** Whether migrations of an app made the tables, which then have to bring them up to date. */
  readonly isOfApp: boolean;
}

/** Reads which migrations a database has. Creates nothing, not even a file. */
export async function schemaStatus(options: TypeOrmSessionStorageOptions): Promise<SchemaStatus> {
  const { timeLimitMs = DEFAULT_TIME_LIMIT_MS } = options;
  if ('dataSource' in options) throw new InvalidInputError('has migrations of its own', 'dataSource');
  if ('url' in options) return toSchemaStatus(await withServer({ ...options, timeLimitMs }, executedMigrations));
  if (!existsSync(options.database)) return toSchemaStatus({ names: [], isOfApp: false });
  return toSchemaStatus(await withSqlite({ ...options, timeLimitMs }, executedMigrations));
}

function toSchemaStatus({ names: executed, isOfApp }: ExecutedMigrations): SchemaStatus {
  const names = SESSION_MIGRATIONS.map(({ name }) => name);
  return { executed, pending: names.filter((name) => !executed.includes(name)), isOfApp };
}
