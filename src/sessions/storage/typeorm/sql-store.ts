import { checkStoreOptionNames } from '../../../config/check-service-options.js';
import { checkedClock } from '../../domain/process/checked-clock.js';
import type { AppendOutcome, Commit } from '../../domain/stored/commit.js';
import { InvalidInputError, StoreUnavailableError } from '../../domain/errors/errors.js';
import { type Lifetime, isRenewalDue } from '../../domain/values/expiry.js';
import type { StateOwner } from '../../domain/values/ids.js';
import type { StateLimits } from '../../domain/stored/state-size.js';
import { newStamp } from '../../domain/values/stamp.js';
import type { UsageQuery } from '../../domain/usage/usage-periods.js';
import type { SearchIndex } from '../search-index.js';
import type { SessionMarks } from '../coordination.js';
import type { EntryStore } from '../entry-store.js';
import { SLACK_MS } from '../plan-time.js';
import type { WriteStore } from '../planned-write.js';
import type { GroupedEvents, GroupedEventsRequest } from '../rebuild.js';
import type { ChangeFeed, LogTail, TailRequest } from '../session-changes.js';
import type {
  AppendWithin,
  ListRequest,
  ListResult,
  PurgeCounts,
  ReadRequest,
  SharedScope,
  StateEntries,
  UsageReply,
  WriteStateRequest,
} from '../session-storage.js';
import type { DeletedSession, NewSessionRequest, SessionStore, StampedSession } from '../session-store.js';
import type { TransferStore } from '../transfer-store.js';
import type { AuditPage, AuditRequest } from '../store-audit.js';
import { appendWithin } from './append/append-within.js';
import { createSession } from './append/create-session.js';
import { SqlWrites } from './append/sql-writes.js';
import { writeLimitsOf } from './append/write-limits.js';
import { auditDatabase } from './audit/audit-database.js';
import { groupedEvents } from './audit/grouped-events.js';
import { LazyDatabase } from './connect/lazy-database.js';
import type { openDatabase } from './connect/open-database.js';
import { SqlEntries } from './entries/sql-entries.js';
import { deleteSession } from './expire/delete-session.js';
import { purgeExpired } from './expire/purge-expired.js';
import { listSessions } from './list/list-sessions.js';
import { logTails } from './live/log-tails.js';
import { SqlMarks } from './live/sql-marks.js';
import { readSession } from './read/read-session.js';
import { SqlSearch } from './search/sql-search.js';
import { BEGIN_LAZILY, type TransactionOptions, type Work } from './sql/transaction.js';
import { readScopeAndCommit } from './state/read-state.js';
import { readUsage } from './state/read-usage.js';
import { renewScope, writeScope } from './state/write-state.js';
import { SqlTransfer } from './transfer/sql-transfer.js';
import type { TypeOrmSessionStorageOptions } from './typeorm-options.js';

/** Sessions in the tables of a database. The first operation opens it, and creates the tables. */
export class SqlStore implements SessionStore {
  readonly #database: LazyDatabase;
  readonly writes: WriteStore;
  readonly entries: EntryStore = new SqlEntries({
    read: (work, options) => this.#read(work, options),
    write: (work, options) => this.#write(work, options),
  });
  readonly marks: SessionMarks;
  readonly transfer: TransferStore = new SqlTransfer(async () => {
    return (await this.#database.open()).transactions;
  });

  readonly search: SearchIndex = new SqlSearch(() => this.#database.open());

  /** @param open how to open the database; for this package */
  constructor(options: TypeOrmSessionStorageOptions, open: typeof openDatabase) {
    checkStoreOptionNames('database', options);
    const { clock } = options;
    this.#database = new LazyDatabase(() => open(clock ? { ...options, clock: checkedClock(clock) } : options));
    // SQLite has the clock of this process.
    const lagMs = clock || 'database' in options ? 0 : SLACK_MS;
    this.marks = new SqlMarks({ read: (work, how) => this.#read(work, how) }, lagMs);
    this.writes = new SqlWrites(async () => (await this.#database.open()).transactions, writeLimitsOf(options));
  }

  get feed(): ChangeFeed | undefined {
    return this.#database.feed;
  }

  async open(): Promise<void> {
    await this.#database.open();
  }

  async warnings(): Promise<readonly string[]> {
    const { warnings } = await this.#database.open();
    return (await warnings?.()) ?? [];
  }

  async create(request: NewSessionRequest): Promise<StampedSession | undefined> {
    const { transactions } = await this.#database.open();
    const stamp = newStamp();
    const session = await createSession(transactions, request, stamp);
    return session && { session, stamp, stateText: request.stateText };
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

  read(request: ReadRequest): Promise<StampedSession | undefined> {
    return this.#read((transaction) => readSession(transaction, request), BEGIN_LAZILY);
  }

  tails(logs: readonly TailRequest[]): Promise<(LogTail | undefined)[]> {
    return this.#read((transaction) => logTails(transaction, logs), BEGIN_LAZILY);
  }

  list(request: ListRequest): Promise<ListResult> {
    return this.#read((transaction) => listSessions(transaction, request), BEGIN_LAZILY);
  }

  delete(request: DeletedSession): Promise<boolean> {
    return this.#write((transaction) => deleteSession(transaction, request));
  }

  async readState(owner: StateOwner, renew?: Lifetime, maxStateBytes?: StateLimits): Promise<SharedScope> {
    const { entries, expiresAt, isDue } = await this.#read(async (transaction) => {
      const scope = (await readScopeAndCommit(transaction, owner, maxStateBytes))();
      return { ...scope, isDue: renew && scope.expiresAt && isRenewalDue(scope.expiresAt, transaction.now, renew) };
    });
    if (renew && isDue) {
      const renewing = this.#write(async (transaction) =>
        transaction.addToCommit([renewScope(transaction, owner, renew)]),
      );
      await renewing.catch(ignoreUnavailable);
    }
    return { entries, expiresAt };
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
