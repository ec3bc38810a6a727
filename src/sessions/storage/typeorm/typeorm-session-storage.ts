import type { DataSource } from 'typeorm';
import type { DatabaseSettings } from '../../../config/store-settings.js';
import type { AppendOutcome, Commit } from '../../domain/commit.js';
import type { Clock } from '../../domain/clock.js';
import { DecidingStorage } from '../../writes/deciding-storage.js';
import type { ComponentStore } from '../component-store.js';
import type { SearchIndex } from '../search-index.js';
import type { AppendWithin } from '../session-storage.js';
import { openDatabase, openExistingDatabase } from './connect/open-database.js';
import { type SchemaStatus, schemaStatus } from './connect/schema-status.js';
import { SqlStore } from './sql-store.js';
import type { TypeOrmSessionStorageOptions } from './typeorm-options.js';

/**
 * Stores sessions in SQLite, MySQL, MariaDB or PostgreSQL through TypeORM. The first operation opens the database
 * and creates the tables. Any number of processes may share a database.
 *
 * @example
 * new TypeOrmSessionStorage({ database: './data/sessions.db' });
 * new TypeOrmSessionStorage({ url: 'postgres://app@localhost/agents' });
 * new TypeOrmSessionStorage({ dataSource });
 */
export class TypeOrmSessionStorage extends DecidingStorage<SqlStore> {
  declare readonly components: ComponentStore;
  /** The search index, which is made when it is opened. */
  readonly search: SearchIndex;

  /** @param open how to open the database; for this package */
  constructor(options: TypeOrmSessionStorageOptions, open: typeof openDatabase = openDatabase) {
    super(new SqlStore(options, open));
    this.search = this.store.search;
  }

  /** Opens the database and runs the migrations, so that a wrong setting fails at once. */
  async open(): Promise<void> {
    await this.store.open();
  }

  /** Asks PostgreSQL for time limits of locks, and whether a pooler is in front of it. */
  warnings(): Promise<readonly string[]> {
    return this.store.warnings();
  }

  /** Writes a commit inside a transaction of the app, on its DataSource. */
  appendWithin(commit: Commit, within: AppendWithin): Promise<AppendOutcome> {
    return this.store.appendWithin(commit, within);
  }
}

/**
 * Creates the store that the settings describe. It does not open the database.
 *
 * @param creates whether it creates tables
 */
export function typeOrmStorageOf(
  settings: DatabaseSettings,
  clock: Clock | undefined,
  creates = true,
): TypeOrmSessionStorage {
  const open = creates ? openDatabase : openExistingDatabase;
  return new TypeOrmSessionStorage({ ...optionsOf(settings), clock }, open);
}

/** Reads which migrations the database of these settings has. */
export function schemaStatusOf(settings: DatabaseSettings): Promise<SchemaStatus> {
  return schemaStatus(optionsOf(settings));
}

function optionsOf({ dataSource, database, url, ...settings }: DatabaseSettings): TypeOrmSessionStorageOptions {
  const { timeLimitMs, coalesceAppends, ...ofServer } = settings;
  const common = { timeLimitMs, coalesceAppends };
  if (dataSource) return { ...common, dataSource: dataSource as DataSource };
  if (url !== undefined) return { ...common, ...ofServer, url };
  return { ...common, database: database ?? '', tablePrefix: settings.tablePrefix };
}
