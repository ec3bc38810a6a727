import type { DataSource } from 'typeorm';
import { checkStoreOptionNames } from '../../../config/check-service-options.js';
import type { DatabaseSettings } from '../../../config/store-settings.js';
import type { Clock } from '../../domain/clock.js';
import type { AppendOutcome, Commit } from '../../domain/commit.js';
import { InvalidInputError, StoreUnavailableError } from '../../domain/errors.js';
import { type Lifetime, isRenewalDue } from '../../domain/expiry.js';
import type { StateOwner } from '../../domain/ids.js';
import type { StateLimits } from '../../domain/state-size.js';
import type { TurnOutcome, TurnRequest } from '../../domain/turn.js';
import { newStamp } from '../../domain/stamp.js';
import type { UsageQuery } from '../../domain/usage-periods.js';
import type { ComponentStore } from '../component-store.js';
import type { Agenda, ConsumerStore, LeaseStore } from '../coordination.js';
import type { PartialStore } from '../partial-store.js';
import type { GroupedEvents, GroupedEventsRequest, RebuildRequest } from '../rebuild.js';
import type { SessionChanges } from '../session-changes.js';
import type {
  AppendWithin,
  CheckpointRequest,
  CreateRequest,
  DeleteRequest,
  ListRequest,
  ListResult,
  PurgeCounts,
  ReadRequest,
  SessionStorage,
  StateEntries,
  StoredSession,
  TouchRequest,
  TrimRequest,
  UsageReply,
  WriteStateRequest,
} from '../session-storage.js';
import type { TransferStore } from '../transfer-store.js';
import type { AuditPage, AuditRequest } from '../store-audit.js';
import { appendWithin } from './append/append-within.js';
import { createSession } from './append/create-session.js';
import { saveCheckpoint, trimLog } from './append/session-writes.js';
import { SqlComponents } from './components/sql-components.js';
import { auditDatabase } from './audit/audit-database.js';
import { groupedEvents } from './audit/grouped-events.js';
import { rebuildSession } from './audit/rebuild-session.js';
import { LazyDatabase } from './connect/lazy-database.js';
import { openDatabase, openExistingDatabase } from './connect/open-database.js';
import { type SchemaStatus, schemaStatus } from './connect/schema-status.js';
import { SqlAgenda } from './coordinate/sql-agenda.js';
import { SqlConsumers } from './coordinate/sql-consumers.js';
import { SqlLeases } from './coordinate/sql-leases.js';
import { deleteSession, touchSession } from './expire/delete-and-touch.js';
import { purgeExpired } from './expire/purge-expired.js';
import { listSessions } from './list/list-sessions.js';
import { logPositions } from './live/log-positions.js';
import { logTails } from './live/log-tails.js';
import { SqlPartials } from './live/partial-events.js';
import { readSession } from './read/read-session.js';
import type { TransactionOptions, Work } from './sql/transaction.js';
import { readScopeAndCommit } from './state/read-state.js';
import { readUsage } from './state/read-usage.js';
import { renewScope, writeScope } from './state/write-state.js';
import { SqlTransfer } from './transfer/sql-transfer.js';
import type { TypeOrmSessionStorageOptions } from './typeorm-options.js';

/** For work that looks up a session before it compares times. */
const BEGIN_LAZILY: TransactionOptions = { beginsLazily: true };

/**
 * Stores sessions in SQLite, MySQL, MariaDB or PostgreSQL through TypeORM. The first operation opens the database
 * and creates the tables. Any number of processes may share a database.
 *
 * @example
 * new TypeOrmSessionStorage({ database: './data/sessions.db' });
 * new TypeOrmSessionStorage({ url: 'postgres://app@localhost/agents' });
 * new TypeOrmSessionStorage({ dataSource });
 */
export class TypeOrmSessionStorage implements SessionStorage {
  readonly #database: LazyDatabase;
  readonly leases: LeaseStore = new SqlLeases((work) => this.#write(work));
  readonly agenda: Agenda = new SqlAgenda({ read: (work) => this.#read(work), write: (work) => this.#write(work) });
  readonly consumers: ConsumerStore = new SqlConsumers({
    read: (work) => this.#read(work),
    write: (work) => this.#write(work),
  });
  readonly partials: PartialStore = new SqlPartials({
    read: (work, options) => this.#read(work, options),
    write: (work, options) => this.#write(work, options),
  });
  readonly components: ComponentStore = new SqlComponents({
    read: (work, options) => this.#read(work, options),
    write: (work, options) => this.#write(work, options),
  });
  readonly changes: SessionChanges;
  readonly transfer: TransferStore = new SqlTransfer(async () => {
    const { transactions, writer } = await this.#database.open();
    return { transactions, forget: (key) => writer.known.forget(key) };
  });

  /** @param open how to open the database; for this package */
  constructor(options: TypeOrmSessionStorageOptions, open: typeof openDatabase = openDatabase) {
    checkStoreOptionNames('database', options);
    const database = new LazyDatabase(() => open(options));
    this.#database = database;
    this.changes = {
      positions: (logs) => this.#read((transaction) => logPositions(transaction, logs), BEGIN_LAZILY),
      tails: (logs) => this.#read((transaction) => logTails(transaction, logs), BEGIN_LAZILY),
      get feed() {
        return database.feed;
      },
    };
  }

  /** Opens the database and runs the migrations, so that a wrong setting fails at once. */
  async open(): Promise<void> {
    await this.#database.open();
  }

  async create(request: CreateRequest): Promise<StoredSession | undefined> {
    const { transactions, writer } = await this.#database.open();
    const stamp = newStamp();
    const created = await createSession(transactions, request, stamp);
    if (created) writer.known.remember({ record: created.record, metadata: created.metadata, stamp });
    return created;
  }

  async append(commit: Commit): Promise<AppendOutcome> {
    const { writer } = await this.#database.open();
    return writer.append(commit);
  }

  async appendWithin(commit: Commit, within: AppendWithin): Promise<AppendOutcome> {
    const { appTransactions } = await this.#database.open();
    if (!appTransactions) {
      throw new InvalidInputError(
        'needs a store over the DataSource of the app: give it `dataSource` instead of a url or a file, or leave this out',
        'transaction',
      );
    }
    return appendWithin(appTransactions, commit, within);
  }

  async turn(request: TurnRequest): Promise<TurnOutcome> {
    const { writer } = await this.#database.open();
    return writer.turn(request);
  }

  async read(request: ReadRequest): Promise<StoredSession | undefined> {
    const { transactions, writer } = await this.#database.open();
    const found = await transactions.read((transaction) => readSession(transaction, request), BEGIN_LAZILY);
    if (found)
      writer.known.refresh({ record: found.stored.record, metadata: found.stored.metadata, stamp: found.stamp });
    return found?.stored;
  }

  list(request: ListRequest): Promise<ListResult> {
    return this.#read((transaction) => listSessions(transaction, request));
  }

  touch(request: TouchRequest): Promise<void> {
    return this.#write((transaction) => touchSession(transaction, request));
  }

  trim(request: TrimRequest): Promise<void> {
    return this.#write((transaction) => trimLog(transaction, request), BEGIN_LAZILY);
  }

  saveCheckpoint(request: CheckpointRequest): Promise<void> {
    return this.#write((transaction) => saveCheckpoint(transaction, request), BEGIN_LAZILY);
  }

  delete(request: DeleteRequest): Promise<void> {
    return this.#write((transaction) => deleteSession(transaction, request));
  }

  async readState(owner: StateOwner, renew?: Lifetime, maxStateBytes?: StateLimits): Promise<StateEntries> {
    const { entries, isDue } = await this.#read(async (transaction) => {
      const scope = (await readScopeAndCommit(transaction, owner, maxStateBytes))();
      return { ...scope, isDue: renew && scope.expiresAt && isRenewalDue(scope.expiresAt, transaction.now, renew) };
    });
    if (renew && isDue) {
      const renewing = this.#write(async (transaction) =>
        transaction.addToCommit([renewScope(transaction, owner, renew)]),
      );
      await renewing.catch(ignoreUnavailable);
    }
    return entries;
  }

  async writeState(request: WriteStateRequest): Promise<StateEntries> {
    const written = await this.#write((transaction) => writeScope(transaction, request));
    return written();
  }

  readUsage(queries: readonly UsageQuery[]): Promise<UsageReply> {
    return this.#read((transaction) => readUsage(transaction, queries));
  }

  async purgeExpired(limit: number): Promise<PurgeCounts> {
    const { transactions } = await this.#database.open();
    return purgeExpired(transactions, limit);
  }

  async audit(request: AuditRequest): Promise<AuditPage> {
    const { transactions } = await this.#database.open();
    return auditDatabase(transactions, request);
  }

  rebuild(request: RebuildRequest): Promise<boolean> {
    return this.#write((transaction) => rebuildSession(transaction, request), BEGIN_LAZILY);
  }

  groupedEvents(request: GroupedEventsRequest): Promise<readonly GroupedEvents[] | undefined> {
    return this.#read((transaction) => groupedEvents(transaction, request));
  }

  async close(): Promise<void> {
    await this.#database.close();
  }

  async #read<Result>(work: Work<Result>, options?: TransactionOptions): Promise<Result> {
    const { transactions } = await this.#database.open();
    return transactions.read(work, options);
  }

  async #write<Result>(work: Work<Result>, options?: TransactionOptions): Promise<Result> {
    const { transactions } = await this.#database.open();
    return transactions.write(work, options);
  }
}

/** A failed renewal does not fail the read. */
function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof StoreUnavailableError)) throw error;
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
