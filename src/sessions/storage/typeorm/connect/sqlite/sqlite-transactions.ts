import { setTimeout as delay } from 'node:timers/promises';
import { type DataSource, QueryFailedError, type QueryResult, type QueryRunner } from 'typeorm';
import type { Clock } from '../../../../domain/clock.js';
import { StoreUnavailableError } from '../../../../domain/errors.js';
import { sqliteDialect } from '../../sql/dialect.js';
import type { Sql } from '../../sql/sql.js';
import {
  OpenTransaction,
  type StatementRunner,
  type TransactionMode,
  type Transactions,
  type Work,
  type WriteOptions,
} from '../../sql/transaction.js';
import { sessionsKeyOf, tablesOf } from '../../tables.js';
import { isBusy, storeUnavailable } from '../driver-errors.js';

/** Waits for the write lock of another process must not block the event loop. */
const LONGEST_BACKOFF_MS = 20;

const BEGIN: Readonly<Record<TransactionMode, string>> = {
  read: 'BEGIN',
  // Takes the write lock at once, because a later upgrade may fail.
  write: 'BEGIN IMMEDIATE',
};

/** The part of the driver's connection that is used here. */
interface DriverConnection {
  readonly inTransaction: boolean;
  exec(text: string): unknown;
}

interface SqliteTransactionsOptions {
  readonly clock: Clock;
  readonly timeLimitMs: number;
}

/**
 * Runs transactions one after the other on the single SQLite connection. Otherwise statements of two transactions
 * would mix, and reads would see uncommitted data.
 */
export class SqliteTransactions implements Transactions {
  readonly #context;
  #tail: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  /** Since when every write has found the file locked. A successful read does not reset it. */
  #busySince: number | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly options: SqliteTransactionsOptions,
  ) {
    this.#context = { dialect: sqliteDialect, tables: tablesOf(dataSource), sessionsKey: sessionsKeyOf(dataSource) };
  }

  read<Result>(work: Work<Result>): Promise<Result> {
    return this.#queued('read', work, performance.now());
  }

  write<Result>(work: Work<Result>, { calledAt = performance.now() }: WriteOptions = {}): Promise<Result> {
    return this.#queued('write', work, calledAt);
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

  /** Retries while another process holds the lock. Time in the queue behind that lock counts as waiting. */
  async #retryWhileBusy<Result>(mode: TransactionMode, work: Work<Result>, calledAt: number): Promise<Result> {
    for (;;) {
      try {
        const result = await this.#transaction(BEGIN[mode], work);
        this.#resetBusy(mode);
        return result;
      } catch (error) {
        if (!isBusy(error)) {
          this.#resetBusy(mode);
          throw storeUnavailable(error, false);
        }
        this.#busySince ??= performance.now();
        const waitedSince = Math.max(this.#busySince, calledAt);
        if (performance.now() > waitedSince + this.options.timeLimitMs) throw storeUnavailable(error, false);
        await delay(Math.random() * LONGEST_BACKOFF_MS);
      }
    }
  }

  #resetBusy(mode: TransactionMode): void {
    if (mode === 'write') this.#busySince = undefined;
  }

  async #transaction<Result>(begin: string, work: Work<Result>): Promise<Result> {
    const runner = this.dataSource.createQueryRunner();
    const driver = (await runner.connect()) as DriverConnection;
    rollBack(driver);
    const statements = new SqliteStatements(runner);
    let result: Result;
    try {
      execute(driver, begin);
      const now = this.options.clock.now();
      const transaction = new OpenTransaction(statements, this.#context, () => now);
      result = await work(transaction);
      await statements.changeAll(transaction.commitStatements);
    } catch (error) {
      rollBack(driver);
      throw error;
    }
    try {
      execute(driver, 'COMMIT');
    } catch (error) {
      rollBack(driver);
      throw storeUnavailable(error, true);
    }
    return result;
  }
}

/** Not prepared, because a prepared statement that fails on a lock stays open and blocks later commits. */
function execute(driver: DriverConnection, text: string): void {
  try {
    driver.exec(text);
  } catch (error) {
    throw new QueryFailedError(text, undefined, error as Error);
  }
}

/** If it fails, the next transaction rolls back first. */
function rollBack(driver: DriverConnection): void {
  try {
    if (driver.inTransaction) execute(driver, 'ROLLBACK');
  } catch {
    // The original error matters more.
  }
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
