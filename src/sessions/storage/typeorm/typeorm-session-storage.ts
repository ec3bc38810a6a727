import type { DataSource } from 'typeorm';
import { READS, problemsOfReads } from '../../../config/check-reads.js';
import { ConfigurationError } from '../../../config/configuration-error.js';
import { PLAIN_NAMES } from '../../../config/option-checks.js';
import type { DatabaseSettings } from '../../../config/store-settings.js';
import type { AppendOutcome, Commit } from '../../domain/stored/commit.js';
import type { Clock } from '../../domain/process/clock.js';
import { notedStore, type SharedStore } from '../../reads/noted-store.js';
import { Replica } from '../../reads/replica.js';
import { DecidingStorage } from '../../writes/deciding-storage.js';
import type { ComponentStore } from '../component-store.js';
import type { EntryStore } from '../entry-store.js';
import type { SearchIndex } from '../search-index.js';
import type { AppendWithin } from '../session-storage.js';
import type { TransferStore } from '../transfer-store.js';
import { openDatabase, openExistingDatabase } from './connect/open-database.js';
import { type SchemaStatus, schemaStatus } from './connect/schema-status.js';
import { SqlStore } from './sql-store.js';
import type { ServerOptions, TypeOrmSessionStorageOptions } from './typeorm-options.js';

/**
 * Stores sessions in SQLite, MySQL, MariaDB or PostgreSQL through TypeORM. The first operation opens the database
 * and creates the tables. Any number of processes may share a database.
 *
 * @example
 * new TypeOrmSessionStorage({ database: './data/sessions.db' });
 * new TypeOrmSessionStorage({ url: 'postgres://app@localhost/agents' });
 * new TypeOrmSessionStorage({ dataSource });
 */
export class TypeOrmSessionStorage extends DecidingStorage<SharedStore> {
  declare readonly components: ComponentStore;
  declare readonly transfer: TransferStore;
  /** The search index, which is made when it is opened. */
  readonly search: SearchIndex;
  /** The read replica, if `reads` names one. */
  readonly replica: Replica | undefined;
  readonly #store: SqlStore;

  /** @param open how to open the database; for this package */
  constructor({ ...options }: TypeOrmSessionStorageOptions, open: typeof openDatabase = openDatabase) {
    const store = new SqlStore(options, open);
    const replica = replicaOf(options, store.entries);
    super(replica ? notedStore(store, (owner) => replica.wrote(owner)) : store);
    this.#store = store;
    this.search = store.search;
    this.replica = replica;
  }

  /** Opens the database and runs the migrations, so that a wrong setting fails at once. Does not wait for a read replica. */
  async open(): Promise<void> {
    await this.#store.open();
    void this.replica?.look();
  }

  /** Asks PostgreSQL for time limits of locks, whether a pooler is in front of it, and whether the read replica is used. */
  async warnings(): Promise<readonly string[]> {
    const [ofServer, ofReplica] = await Promise.all([this.#store.warnings(), this.replica?.warnings() ?? []]);
    return [...ofServer, ...ofReplica];
  }

  /** Writes a commit inside a transaction of the app, on its DataSource. */
  appendWithin(commit: Commit, within: AppendWithin): Promise<AppendOutcome> {
    return this.#store.appendWithin(commit, within);
  }

  override async close(): Promise<void> {
    await this.replica?.close();
    await super.close();
  }
}

/** A server that is opened as it is: nothing is created in it. */
function replicaOf(options: TypeOrmSessionStorageOptions, primary: EntryStore): Replica | undefined {
  const { reads } = options as Partial<ServerOptions>;
  if (reads === undefined) return undefined;
  const problems = problemsOfReads({ ...options }, PLAIN_NAMES);
  if (problems.length > 0) throw new ConfigurationError(problems);
  const { tablePrefix, schema, timeLimitMs, clock } = options as ServerOptions;
  const { maxLagMs = READS.maxLagMs.default, onWarning: warn = warnOnConsole, ...server } = reads;
  const storage = new TypeOrmSessionStorage(
    { timeLimitMs, ...server, tablePrefix, schema, clock },
    openExistingDatabase,
  );
  return new Replica(primary, storage, { maxLagMs, warn, now: clock ? () => clock.now() : () => performance.now() });
}

function warnOnConsole(message: string): void {
  console.warn(`nestjs-agent-sessions: ${message}`);
}

/**
 * Creates the store that the settings describe. It does not open the database.
 *
 * @param how whether it creates tables, and who hears of its read replica
 */
export function typeOrmStorageOf(
  settings: DatabaseSettings,
  clock: Clock | undefined,
  { creates = true, onWarning }: { readonly creates?: boolean; readonly onWarning?: (message: string) => void } = {},
): TypeOrmSessionStorage {
  const open = creates ? openDatabase : openExistingDatabase;
  const { reads } = settings;
  return new TypeOrmSessionStorage(
    { ...toStorageOptions(settings), clock, ...(reads && { reads: { onWarning, ...reads } }) },
    open,
  );
}

/** Reads which migrations the database of these settings has. */
export function schemaStatusOf(settings: DatabaseSettings): Promise<SchemaStatus> {
  return schemaStatus(toStorageOptions(settings));
}

function toStorageOptions({ dataSource, database, url, ...settings }: DatabaseSettings): TypeOrmSessionStorageOptions {
  const { timeLimitMs, coalesceAppends, reads: _reads, ...ofServer } = settings;
  const common = { timeLimitMs, coalesceAppends };
  if (dataSource) return { ...common, dataSource: dataSource as DataSource };
  if (url !== undefined) return { ...common, ...ofServer, url };
  return { ...common, database: database ?? '', tablePrefix: settings.tablePrefix };
}
