import { setTimeout as delay } from 'node:timers/promises';
import { type DataSource, QueryFailedError, type QueryResult, type QueryRunner } from 'typeorm';
import { isBusy, storeUnavailable } from './driver-errors.js';
import type { Sql } from './sql.js';
import type { Changed, SqlConnection } from './sql-connection.js';

/** Another process may hold the file's write lock; waiting for it must neither block this one nor last for ever. */
const LONGEST_BACKOFF_MS = 20;

type Work<Result> = (connection: SqlConnection) => Promise<Result>;

/** What is used of the driver's own connection. */
interface DriverConnection {
  readonly inTransaction: boolean;
  exec(text: string): unknown;
}

/**
 * Runs transactions on the one connection that SQLite has, one after the other: on a shared connection the
 * statements of two transactions would mix, and a read would see what is not committed.
 */
export class SqliteTransactions {
  #last: Promise<unknown> = Promise.resolve();
  /** Since when every try has found the file locked. */
  #busySince: number | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly timeLimitMs: number,
  ) {}

  /** A transaction that sees one moment of the database. */
  read<Result>(work: Work<Result>): Promise<Result> {
    return this.#queued('BEGIN', work, performance.now());
  }

  /**
   * A transaction that no other writer runs beside.
   *
   * @param calledAt since when the caller has waited, for whom a limit of time counts from earlier
   */
  write<Result>(work: Work<Result>, calledAt = performance.now()): Promise<Result> {
    // Taking the write lock at once, since a lock that is upgraded later may fail half way.
    return this.#queued('BEGIN IMMEDIATE', work, calledAt);
  }

  async finished(): Promise<void> {
    await this.#last;
  }

  #queued<Result>(begin: string, work: Work<Result>, calledAt: number): Promise<Result> {
    const result = this.#last.then(() => this.#unlessBusy(begin, work, calledAt));
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Tries until nobody else is in the way. Whoever queued up behind a lock has waited for it as well. */
  async #unlessBusy<Result>(begin: string, work: Work<Result>, calledAt: number): Promise<Result> {
    for (;;) {
      try {
        const result = await this.#transaction(begin, work);
        this.#busySince = undefined;
        return result;
      } catch (error) {
        this.#busySince = isBusy(error) ? (this.#busySince ?? performance.now()) : undefined;
        const waitedSince = Math.max(this.#busySince ?? 0, calledAt);
        if (this.#busySince === undefined || performance.now() > waitedSince + this.timeLimitMs) {
          throw storeUnavailable(error, false);
        }
        await delay(Math.random() * LONGEST_BACKOFF_MS);
      }
    }
  }

  async #transaction<Result>(begin: string, work: Work<Result>): Promise<Result> {
    const runner = this.dataSource.createQueryRunner();
    const driver = (await runner.connect()) as DriverConnection;
    rollBack(driver);
    let result: Result;
    try {
      execute(driver, begin);
      result = await work(new RunnerConnection(runner));
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

class RunnerConnection implements SqlConnection {
  constructor(private readonly runner: QueryRunner) {}

  async rows<Row>(statement: Sql): Promise<Row[]> {
    return (await this.#run(statement)).records as Row[];
  }

  async change(statement: Sql): Promise<Changed> {
    const { affected, raw } = await this.#run(statement);
    return { rows: affected ?? 0, insertedPk: Number(raw) };
  }

  #run({ text, values }: Sql): Promise<QueryResult> {
    return this.runner.query(text, [...values], true);
  }
}
