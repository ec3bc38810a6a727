import { setTimeout as delay } from 'node:timers/promises';
import { type DataSource, QueryFailedError, type QueryResult, type QueryRunner } from 'typeorm';
import type { Clock } from '../../../../domain/clock.js';
import { StoreUnavailableError } from '../../../../domain/errors.js';
import { sqliteDialect } from '../../sql/dialect.js';
import type { Sql } from '../../sql/sql.js';
import {
  type DatabaseContext,
  OpenTransaction,
  type StatementRunner,
  type TransactionMode,
  type Transactions,
  type Work,
  type WriteOptions,
} from '../../sql/transaction.js';
import { sessionsKeyOf, tablesOf } from '../../tables.js';
import type { LentConnection } from '../app-transactions.js';
import { isBusy, storeUnavailable } from '../driver-errors.js';

/** Waits for the write lock of another process must not block the event loop. */
const LONGEST_BACKOFF_MS = 20;

const BEGIN: Readonly<Record<TransactionMode, string>> = {
  read: 'BEGIN',
  // Takes the write lock immediately, because a later upgrade may fail.
  write: 'BEGIN IMMEDIATE',
};

/** TypeORM says that a transaction is open shortly before it begins, and for ever if that fails. */
const LONGEST_START_MS = 100;

/** The part of the driver's connection that is used here. */
export interface DriverConnection {
  readonly inTransaction: boolean;
  exec(text: string): unknown;
}

/** The result of a transaction, or what kept it from beginning. */
type Attempt<Result> = { readonly result: Result } | { readonly blockedBy: unknown };

interface SqliteTransactionsOptions {
  readonly clock: Clock;
  readonly timeLimitMs: number;
}

/**
 * Runs transactions one after the other on the single SQLite connection. Otherwise statements of two transactions
 * would mix, and reads would see uncommitted data. On a DataSource of the app, they also wait for the app's transactions.
 */
export class SqliteTransactions implements Transactions {
  readonly context: DatabaseContext;
  #tail: Promise<unknown> = Promise.resolve();
  /** The transaction that is open on the connection. */
  #current: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  /** Since when TypeORM says that a transaction of the app is open, but none has begun. */
  #appStartsSince: number | undefined;
  /** Whether a failed rollback left a transaction open. */
  #isLeftOpen = false;
  /** Since when every write has found the file locked. A successful read does not reset it. */
  #busySince: number | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly options: SqliteTransactionsOptions,
  ) {
    this.context = { dialect: sqliteDialect, tables: tablesOf(dataSource), sessionsKey: sessionsKeyOf(dataSource) };
  }

  read<Result>(work: Work<Result>): Promise<Result> {
    return this.#queued('read', work, performance.now());
  }

  write<Result>(work: Work<Result>, { calledAt = performance.now() }: WriteOptions = {}): Promise<Result> {
    return this.#queued('write', work, calledAt);
  }

  /** Waits for the transaction that is open on the connection. */
  async currentEnded(): Promise<void> {
    await this.#current;
  }

  async finished(): Promise<void> {
    // Queued work may have queued more work.
    for (let tail: unknown; tail !== this.#tail;) {
      tail = this.#tail;
      await tail;
    }
    this.#isClosed = true;
  }

  async #queued<Result>(mode: TransactionMode, work: Work<Result>, calledAt: number): Promise<Result> {
    if (this.#isClosed) throw new StoreUnavailableError('The session store is closed.', false);
    const result = this.#tail.then(() => this.#retryWhileBusy(mode, work, calledAt));
    this.#tail = result.catch(() => undefined);
    return result;
  }

  /** Retries while another process or the app holds the lock. Time in the queue behind that lock counts as waiting. */
  async #retryWhileBusy<Result>(mode: TransactionMode, work: Work<Result>, calledAt: number): Promise<Result> {
    for (;;) {
      const attempt = await this.#attempt(mode, work);
      if ('result' in attempt) return attempt.result;
      this.#busySince ??= performance.now();
      const waitedSince = Math.max(this.#busySince, calledAt);
      if (performance.now() > waitedSince + this.options.timeLimitMs) throw attempt.blockedBy;
      await delay(Math.random() * LONGEST_BACKOFF_MS);
    }
  }

  async #attempt<Result>(mode: TransactionMode, work: Work<Result>): Promise<Attempt<Result>> {
    const runner = this.dataSource.createQueryRunner();
    const driver = (await runner.connect()) as DriverConnection;
    if (this.#isUsedByApp(driver, runner)) return { blockedBy: appTransactionOpen(this.options.timeLimitMs) };
    // Begins before its first `await`, so that the app cannot begin in between.
    const running = this.#transaction(BEGIN[mode], work, runner, driver);
    this.#current = running.catch(() => undefined);
    try {
      const result = await running;
      this.#resetBusy(mode);
      return { result };
    } catch (error) {
      if (isBusy(error)) return { blockedBy: storeUnavailable(error, false) };
      this.#resetBusy(mode);
      throw storeUnavailable(error, false);
    }
  }

  /** Whether the app has a transaction on the connection, which all of a SQLite DataSource share. */
  #isUsedByApp({ inTransaction }: DriverConnection, { isTransactionActive }: QueryRunner): boolean {
    const isStarting = isTransactionActive && !inTransaction;
    this.#appStartsSince = isStarting ? (this.#appStartsSince ?? performance.now()) : undefined;
    if (this.#appStartsSince !== undefined) return performance.now() - this.#appStartsSince < LONGEST_START_MS;
    return inTransaction && !this.#isLeftOpen;
  }

  #resetBusy(mode: TransactionMode): void {
    if (mode === 'write') this.#busySince = undefined;
  }

  async #transaction<Result>(
    begin: string,
    work: Work<Result>,
    runner: QueryRunner,
    driver: DriverConnection,
  ): Promise<Result> {
    this.#rollBack(driver);
    const statements = new SqliteStatements(runner);
    let result: Result;
    try {
      execute(driver, begin);
      const now = this.options.clock.now();
      const transaction = new OpenTransaction(statements, this.context, { time: () => now });
      result = await work(transaction);
      await statements.changeAll(transaction.takeCommitStatements());
    } catch (error) {
      this.#rollBack(driver);
      throw error;
    }
    try {
      execute(driver, 'COMMIT');
    } catch (error) {
      this.#rollBack(driver);
      throw storeUnavailable(error, true);
    }
    return result;
  }

  /** If it fails, the next transaction rolls back first. */
  #rollBack(driver: DriverConnection): void {
    try {
      if (driver.inTransaction) execute(driver, 'ROLLBACK');
      this.#isLeftOpen = false;
    } catch {
      // The original error matters more.
      this.#isLeftOpen = true;
    }
  }
}

function appTransactionOpen(timeLimitMs: number): StoreUnavailableError {
  return new StoreUnavailableError(
    `A transaction of the app was open for ${timeLimitMs} ms on the connection that it shares with the store. Inside it, ` +
      'give the transaction to the append, and do all else before or after it.',
    false,
  );
}

/** Not prepared, because a prepared statement that fails on a lock stays open and blocks later commits. */
function execute(driver: DriverConnection, text: string): void {
  try {
    driver.exec(text);
  } catch (error) {
    throw new QueryFailedError(text, undefined, error as Error);
  }
}

/** The connection in a transaction of the app. SQLite has no clock of its own. */
export async function lentSqliteConnection(runner: QueryRunner): Promise<LentConnection> {
  return Object.assign(new SqliteStatements(runner), { now: Date.now, release: () => undefined });
}

class SqliteStatements implements StatementRunner {
  constructor(private readonly runner: QueryRunner) {}

  async rows<Row>(statement: Sql): Promise<Row[]> {
    return (await this.#run(statement)).records as Row[];
  }

  /** The transaction locked the file before it read the time. */
  lockedRows<Row>(statement: Sql): Promise<Row[]> {
    return this.rows(statement);
  }

  async change(statement: Sql): Promise<number> {
    return (await this.#run(statement)).affected ?? 0;
  }

  async insert(statement: Sql): Promise<number> {
    return Number((await this.#run(statement)).raw);
  }

  async changeAll(statements: readonly Sql[]): Promise<void> {
    for (const statement of statements) await this.#run(statement);
  }

  #run({ text, values }: Sql): Promise<QueryResult> {
    return this.runner.query(text, [...values], true);
  }
}
