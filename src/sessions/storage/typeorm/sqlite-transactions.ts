import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource, QueryResult, QueryRunner } from 'typeorm';
import { isBusy, storeUnavailable } from './driver-errors.js';
import type { Sql } from './sql.js';
import type { Changed, SqlConnection } from './sql-connection.js';

/** Another process may hold the file's write lock; waiting for it must neither block this one nor last for ever. */
const LONGEST_BACKOFF_MS = 20;

/**
 * Runs transactions on the one connection that SQLite has, one after the other: on a shared connection the
 * statements of two transactions would mix, and a read would see what is not committed.
 */
export class SqliteTransactions {
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly dataSource: DataSource,
    private readonly timeLimitMs: number,
  ) {}

  /** A transaction that sees one moment of the database. */
  read<Result>(work: (connection: SqlConnection) => Promise<Result>): Promise<Result> {
    return this.#queued(() => this.#transaction('BEGIN', work));
  }

  /** A transaction that no other writer runs beside. */
  write<Result>(work: (connection: SqlConnection) => Promise<Result>): Promise<Result> {
    // Taking the write lock at once, since a lock that is upgraded later may fail half way.
    return this.#queued(() => this.#transaction('BEGIN IMMEDIATE', work));
  }

  async finished(): Promise<void> {
    await this.#last;
  }

  #queued<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #transaction<Result>(begin: string, work: (connection: SqlConnection) => Promise<Result>): Promise<Result> {
    const runner = this.dataSource.createQueryRunner();
    await this.#begin(runner, begin);
    let result: Result;
    try {
      result = await work(new RunnerConnection(runner));
    } catch (error) {
      await runner.query('ROLLBACK').catch(() => undefined);
      throw storeUnavailable(error, false);
    }
    try {
      await runner.query('COMMIT');
    } catch (error) {
      await runner.query('ROLLBACK').catch(() => undefined);
      throw storeUnavailable(error, true);
    }
    return result;
  }

  async #begin(runner: QueryRunner, begin: string): Promise<void> {
    const deadline = performance.now() + this.timeLimitMs;
    for (;;) {
      try {
        await runner.query(begin);
        return;
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw storeUnavailable(error, false);
        await delay(Math.random() * LONGEST_BACKOFF_MS);
      }
    }
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
