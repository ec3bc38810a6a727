import type { AppendOutcome, Commit } from '../../domain/commit.js';
import { StoreUnavailableError } from '../../domain/errors.js';
import { type Lifetime, isRenewalDue } from '../../domain/expiry.js';
import type { SessionKey, StateOwner } from '../../domain/ids.js';
import type { Agenda } from '../agenda.js';
import type { LeaseStore } from '../lease-store.js';
import type { SessionChanges } from '../session-changes.js';
import type {
  CreateRequest,
  ListRequest,
  ListResult,
  PurgeCounts,
  ReadRequest,
  SessionStorage,
  StateEntries,
  StoredSession,
  TouchRequest,
  TrimRequest,
  WriteStateRequest,
} from '../session-storage.js';
import { createSession } from './create-session.js';
import { LazyDatabase } from './lazy-database.js';
import { listSessions } from './list-sessions.js';
import { logPositions } from './log-positions.js';
import { openDatabase } from './open-database.js';
import { purgeExpired } from './purge-expired.js';
import { readSession } from './read-session.js';
import { readScope } from './read-state.js';
import { hasKey } from './session-lookup.js';
import { renewal } from './shared-scopes.js';
import { sql } from './sql.js';
import { SqlAgenda } from './sql-agenda.js';
import { SqlLeases } from './sql-leases.js';
import type { TransactionOptions, Work } from './sql-transaction.js';
import { CollectedStateWrites } from './state-writes.js';
import { touchSession } from './touch-session.js';
import { trimLog } from './trim-log.js';
import type { TypeOrmSessionStorageOptions } from './typeorm-options.js';

/** Work that finds a session before it compares times. */
const LOOKS_FIRST: TransactionOptions = { isTimeNeededLater: true };

/**
 * Keeps sessions in SQLite, MySQL, MariaDB or PostgreSQL through TypeORM. The database is opened and its
 * tables are made when they are first needed; any number of processes may share one.
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

  readonly changes: SessionChanges;

  constructor(options: TypeOrmSessionStorageOptions) {
    const database = new LazyDatabase(() => openDatabase(options));
    this.#database = database;
    this.changes = {
      positions: (logs) => this.#read((transaction) => logPositions(transaction, logs), LOOKS_FIRST),
      get feed() {
        return database.feed;
      },
    };
  }

  /** Opens the database and brings its tables up to date, so that a wrong setting shows at once. */
  async open(): Promise<void> {
    await this.#database.open();
  }

  create(request: CreateRequest): Promise<StoredSession | undefined> {
    return this.#write((transaction) => createSession(transaction, request), LOOKS_FIRST);
  }

  async append(commit: Commit): Promise<AppendOutcome> {
    const { appends } = await this.#database.open();
    return appends.append(commit);
  }

  read(request: ReadRequest): Promise<StoredSession | undefined> {
    return this.#read((transaction) => readSession(transaction, request), LOOKS_FIRST);
  }

  list(request: ListRequest): Promise<ListResult> {
    return this.#read((transaction) => listSessions(transaction, request));
  }

  touch(request: TouchRequest): Promise<void> {
    return this.#write((transaction) => touchSession(transaction, request));
  }

  trim(request: TrimRequest): Promise<void> {
    return this.#write((transaction) => trimLog(transaction, request), LOOKS_FIRST);
  }

  async delete(key: SessionKey): Promise<void> {
    await this.#write(async (transaction) => {
      const { tables } = transaction;
      const announcements = transaction.announcementsOfDeletion(hasKey(key));
      transaction.finishWith([...announcements, sql`DELETE FROM ${tables.sessions} WHERE ${hasKey(key)}`]);
    });
  }

  async readState(owner: StateOwner, renew?: Lifetime): Promise<StateEntries> {
    const { entries, isDue } = await this.#read(async (transaction) => {
      const scope = await readScope(transaction, owner);
      return { ...scope, isDue: renew && scope.expiresAt && isRenewalDue(scope.expiresAt, transaction.now, renew) };
    });
    if (renew && isDue) {
      const renewing = this.#write(async (transaction) => transaction.finishWith([renewal(transaction, owner, renew)]));
      await renewing.catch(passOverUnavailable);
    }
    return entries;
  }

  writeState({ owner, lifetime, ...writes }: WriteStateRequest): Promise<StateEntries> {
    return this.#write(async (transaction) => {
      const collected = new CollectedStateWrites(transaction);
      collected.addToScope(owner, writes, lifetime);
      await transaction.changeAll(await collected.statements());
      return (await readScope(transaction, owner)).entries;
    });
  }

  async purgeExpired(limit: number): Promise<PurgeCounts> {
    const { transactions } = await this.#database.open();
    return purgeExpired(transactions, limit);
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

/** What was read was read, also where the database takes no writes. */
function passOverUnavailable(error: unknown): void {
  if (!(error instanceof StoreUnavailableError)) throw error;
}
