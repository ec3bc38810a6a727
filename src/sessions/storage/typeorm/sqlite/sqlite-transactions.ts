import { setTimeout as delay } from 'node:timers/promises';
import { type DataSource, QueryFailedError, type QueryResult, type QueryRunner } from 'typeorm';
import type { Clock } from '../../../domain/clock.js';
import { StoreUnavailableError } from '../../../domain/errors.js';
import { isBusy, storeUnavailable } from '../driver-errors.js';
import type { Sql } from '../sql.js';
import {
  OpenTransaction,
  type StatementRunner,
  type TransactionMode,
  type Transactions,
  type Work,
  type WriteOptions,
} from '../sql-transaction.js';
import { sessionsKeyOf, tablesOf } from '../tables.js';
import { sqliteDialect } from './sqlite-dialect.js';

/** Another process may hold the file's write lock; waiting for it must neither block this one nor last for ever. */
const LONGEST_BACKOFF_MS = 20;

const BEGIN: Readonly<Record<TransactionMode, string>> = {
  read: 'BEGIN',
  // Taking the write lock at once, since a lock that is upgraded later may fail half way.
  write: 'BEGIN IMMEDIATE',
};

/** What is used of the driver's own connection. */
interface DriverConnection {
  readonly inTransaction: boolean;
  exec(text: string): unknown;
}

interface SqliteTransactionsOptions {
  readonly clock: Clock;
  readonly timeLimitMs: number;
}

/**
 * Runs transactions on the one connection that SQLite has, one after the other: on a shared connection the
 * statements of two transactions would mix, and a read would see what is not committed.
 */
export class SqliteTransactions implements Transactions {
  readonly #facts;
  #last: Promise<unknown> = Promise.resolve();
  #isOver = false;
  /** Since when every try to write has found the file locked; a read that gets through says nothing about that. */
  #busySince: number | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly options: SqliteTransactionsOptions,
  ) {
    this.#facts = { dialect: sqliteDialect, tables: tablesOf(dataSource), sessionsKey: sessionsKeyOf(dataSource) };
  }

  read<Result>(work: Work<Result>): Promise<Result> {
    return this.#queued('read', work, performance.now());
  }

  write<Result>(work: Work<Result>, { calledAt = performance.now() }: WriteOptions = {}): Promise<Result> {
    return this.#queued('write', work, calledAt);
  }

  async finished(): Promise<void> {
    // What waited may have made others wait.
    for (let last: unknown; last !== this.#last;) {
      last = this.#last;
      await last;
    }
    this.#isOver = true;
  }

  async #queued<Result>(mode: TransactionMode, work: Work<Result>, calledAt: number): Promise<Result> {
    if (this.#isOver) throw new StoreUnavailableError('The session store is closed.', false);
    const result = this.#last.then(() => this.#unlessBusy(mode, work, calledAt));
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Tries until nobody else is in the way. Whoever queued up behind a lock has waited for it as well. */
  async #unlessBusy<Result>(mode: TransactionMode, work: Work<Result>, calledAt: number): Promise<Result> {
    for (;;) {
      try {
        const result = await this.#transaction(BEGIN[mode], work);
        this.#gotThrough(mode);
        return result;
      } catch (error) {
        if (!isBusy(error)) {
          this.#gotThrough(mode);
          throw storeUnavailable(error, false);
        }
        this.#busySince ??= performance.now();
        const waitedSince = Math.max(this.#busySince, calledAt);
        if (performance.now() > waitedSince + this.options.timeLimitMs) throw storeUnavailable(error, false);
        await delay(Math.random() * LONGEST_BACKOFF_MS);
      }
    }
  }

  #gotThrough(mode: TransactionMode): void {
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
      const transaction = new OpenTransaction(statements, this.#facts, () => now);
      result = await work(transaction);
      await statements.changeAll(transaction.closingStatements);
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

/** Not prepared: a prepared statement that fails on a lock stays open, and no later transaction could commit. */
function execute(driver: DriverConnection, text: string): void {
  try {
    driver.exec(text);
  } catch (error) {
    throw new QueryFailedError(text, undefined, error as Error);
  }
}

/** Where it fails, it is made up for before the next transaction. */
function rollBack(driver: DriverConnection): void {
  try {
    if (driver.inTransaction) execute(driver, 'ROLLBACK');
  } catch {
    // What led here is more telling.
  }
}

class SqliteStatements implements StatementRunner {
  constructor(private readonly runner: QueryRunner) {}

  async rows<Row>(statement: Sql): Promise<Row[]> {
    return (await this.#run(statement)).records as Row[];
  }

  /** The file was locked before the time was taken. */
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
