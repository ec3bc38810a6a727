import type { DataSource } from 'typeorm';
import type { DatabaseSettings } from '../../../config/store-settings.js';
import type { Clock } from '../../domain/clock.js';
import type { TypeOrmSessionStorageOptions } from './typeorm-options.js';
import { TypeOrmSessionStorage } from './typeorm-session-storage.js';

/** Creates the store that the settings describe. It does not open the database. */
export function typeOrmStorageOf(settings: DatabaseSettings, clock: Clock | undefined): TypeOrmSessionStorage {
  return new TypeOrmSessionStorage({ ...optionsOf(settings), clock });
}

function optionsOf({ dataSource, database, url, ...settings }: DatabaseSettings): TypeOrmSessionStorageOptions {
  const { timeLimitMs, coalesceAppends, ...ofServer } = settings;
  const common = { timeLimitMs, coalesceAppends };
  if (dataSource) return { ...common, dataSource: dataSource as DataSource };
  if (url !== undefined) return { ...common, ...ofServer, url };
  return { ...common, database: database ?? '', tablePrefix: settings.tablePrefix };
}
