import type { OpenDatabase } from './lazy-database.js';
import { openHostDatabase } from './host-database.js';
import { openServer } from './servers/server-database.js';
import { openSqlite } from './sqlite/sqlite-database.js';
import { checkNames } from './table-names.js';
import type { TypeOrmSessionStorageOptions } from './typeorm-options.js';

const DEFAULT_TIME_LIMIT_MS = 5_000;

export async function openDatabase(options: TypeOrmSessionStorageOptions): Promise<OpenDatabase> {
  const timeLimitMs = options.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS;
  if ('dataSource' in options) return openHostDatabase({ ...options, timeLimitMs });
  checkNames(options);
  if ('url' in options) return openServer({ ...options, timeLimitMs });
  return openSqlite({ ...options, timeLimitMs });
}
