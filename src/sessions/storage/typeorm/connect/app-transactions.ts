import { setImmediate } from 'node:timers';
import type { DataSource, EntitySubscriberInterface, QueryRunner } from 'typeorm';
import type { Clock } from '../../../domain/process/clock.js';
import { InvalidInputError } from '../../../domain/errors/errors.js';
import { withTimeout } from '../../../domain/process/timeouts.js';
import { Sql } from '../sql/sql.js';
import {
  type DatabaseContext,
  OpenTransaction,
  type SqlTransaction,
  type StatementRunner,
  type Transactions,
} from '../sql/transaction.js';
import { dataSourceOf } from '../tables.js';
import { databaseTimedOut, isDuplicateKey, queryFailed } from './driver-errors.js';

/** A connection in a transaction of the app, while the store uses it. */
export interface LentConnection extends StatementRunner {
  /** The database's time. */
  now(): number;
  release(): void;
}

/** The work of the store inside a transaction. A repeated attempt has to read what other transactions inserted. */
type WorkWithin<Written> = (transaction: SqlTransaction, isRepeated: boolean) => Promise<Written>;

export interface AppTransactionsOptions<Written> {
  readonly dataSource: DataSource;
  readonly context: DatabaseContext;
  /** Default: the clock of the database. */
  readonly clock?: Clock | undefined;
  /** Tracks work after a commit. */
  readonly timeLimitMs: number;
  readonly borrow: (runner: QueryRunner) => Promise<LentConnection>;
  /** The transactions of the store, for work after a commit if the connection of the app fails. */
  readonly transactions: Transactions;
  /** Waits before a transaction of the app begins. Default: no wait. */
  readonly beforeStart?: () => Promise<void>;
  /** Waits before each statement that the app sends through TypeORM. Default: no wait. */
  readonly beforeStatement?: () => Promise<void>;
  /** Called after each of them. */
  readonly afterStatement?: () => void;
  /** Runs after a commit. The app may have rolled back some of the writes before it. */
  readonly afterCommit: (transaction: SqlTransaction, written: readonly Written[]) => Promise<void>;
  /** Called if that fails. */
  readonly onError: (written: readonly Written[], error: unknown) => void;
}

/** Attempts after a conflict with an insert of another transaction. */
const MAX_TRIES = 3;
const SAVEPOINT = new Sql('SAVEPOINT agent_sessions');
const RELEASE = new Sql('RELEASE SAVEPOINT agent_sessions');
const UNDO = [new Sql('ROLLBACK TO SAVEPOINT agent_sessions'), RELEASE];

/**
 * Writes inside transactions that the app opens and ends on its DataSource. TypeORM tells subscribers of a DataSource
 * when a transaction ends.
 */
export class AppTransactions<Written> {
  readonly #transactions = new WeakMap<QueryRunner, AppTransactionWrites<Written>>();
  readonly #subscriber: EntitySubscriberInterface;

  constructor(private readonly options: AppTransactionsOptions<Written>) {
    const { beforeStatement, afterStatement } = options;
    this.#subscriber = {
      beforeTransactionStart: () => this.options.beforeStart?.(),
      beforeTransactionCommit: ({ queryRunner }) => this.#transactions.get(queryRunner)?.finish(),
      beforeTransactionRollback: ({ queryRunner }) => this.#transactions.get(queryRunner)?.finish(),
      afterTransactionCommit: ({ queryRunner }) => this.#committed(queryRunner),
      afterTransactionRollback: ({ queryRunner }) => this.#rolledBack(queryRunner),
      ...(beforeStatement && { beforeQuery: beforeStatement }),
      ...(afterStatement && { afterQuery: afterStatement }),
    };
    this.#subscribe();
  }

  /** Runs work inside a transaction of the app. If it throws, nothing of it is written. */
  async run(transaction: unknown, work: WorkWithin<Written>): Promise<Written> {
    const runner = this.#openRunnerOf(transaction);
    // Initialising a DataSource again drops its subscribers.
    this.#subscribe();
    const writes = this.#transactions.get(runner) ?? new AppTransactionWrites<Written>();
    this.#transactions.set(runner, writes);
    return writes.add(() => this.#write(runner, writes, work));
  }

  /** Removes all open transactions. */
  close(): void {
    const subscribers = this.options.dataSource.subscribers as unknown[];
    const index = subscribers.indexOf(this.#subscriber);
    if (index >= 0) subscribers.splice(index, 1);
  }

  #subscribe(): void {
    const { subscribers } = this.options.dataSource;
    if (!subscribers.includes(this.#subscriber)) subscribers.push(this.#subscriber);
  }

  #openRunnerOf(transaction: unknown): QueryRunner {
    const { queryRunner } = (transaction ?? {}) as { readonly queryRunner?: QueryRunner };
    if (!queryRunner?.isTransactionActive) {
      throw refused(
        'must be the manager of an open transaction: the one that dataSource.transaction() passes, or manager of a query ' +
          'runner after its startTransaction()',
      );
    }
    if (dataSourceOf(queryRunner) !== this.options.dataSource) {
      throw refused('belongs to another DataSource than the store: open it on the one that the store has');
    }
    if (queryRunner.isReleased) throw refused('is over, because its query runner was released: open a new one');
    const writes = this.#transactions.get(queryRunner);
    if (writes?.isEnding) throw refused('is being committed or rolled back: await each append before it ends');
    if (writes?.isLost) throw refused('was rolled back by the database: end it, and begin a new one');
    return queryRunner;
  }

  /** The savepoint undoes what an attempt has written, because MySQL and SQLite undo a failed statement only. */
  async #write(
    runner: QueryRunner,
    writes: AppTransactionWrites<Written>,
    work: WorkWithin<Written>,
  ): Promise<Written> {
    const connection = await this.options.borrow(runner);
    try {
      for (let tries = 1; ; tries++) {
        try {
          await connection.changeAll([SAVEPOINT]);
          const transaction = this.#transactionOn(connection);
          const written = await work(transaction, tries > 1);
          await connection.changeAll([...transaction.takeCommitStatements(), RELEASE]);
          return written;
        } catch (error) {
          writes.isLost = !(await isUndone(connection));
          if (writes.isLost || !isDuplicateKey(error) || tries === MAX_TRIES) throw queryFailed(error);
        }
      }
    } finally {
      connection.release();
    }
  }

  #transactionOn(connection: LentConnection): OpenTransaction {
    const { context, clock = connection } = this.options;
    return new OpenTransaction(connection, context, { time: () => clock.now() });
  }

  /** Never fails, because the transaction is committed. */
  async #committed(runner: QueryRunner): Promise<void> {
    const written = this.#ended(runner);
    if (written.length === 0) return;
    const { afterCommit, timeLimitMs, transactions, onError } = this.options;
    try {
      // The connection of the app is still taken. Another one might not be free before this one is.
      await withTimeout(timeLimitMs, this.#follow(runner, written), () => databaseTimedOut(timeLimitMs, false));
    } catch {
      const again = transactions.read((transaction) => afterCommit(transaction, written));
      void again.catch((error: unknown) => onError(written, error));
    }
  }

  async #follow(runner: QueryRunner, written: readonly Written[]): Promise<void> {
    const connection = await this.options.borrow(runner);
    try {
      const transaction = this.#transactionOn(connection);
      await this.options.afterCommit(transaction, written);
      if (transaction.notification) await connection.rows(transaction.notification).catch(() => []);
    } finally {
      connection.release();
    }
  }

  #rolledBack(runner: QueryRunner): void {
    this.#ended(runner);
  }

  /** The writes, if the outermost transaction has ended. An inner one is a savepoint. */
  #ended(runner: QueryRunner): readonly Written[] {
    const writes = this.#transactions.get(runner);
    if (!writes) return [];
    writes.isEnding = false;
    writes.isLost = false;
    if (runner.isTransactionActive) return [];
    this.#transactions.delete(runner);
    return writes.written;
  }
}

/** The writes of the store in one transaction of the app. They run one at a time, because they share the connection. */
class AppTransactionWrites<Written> {
  readonly written: Written[] = [];
  /** The app commits it or rolls it back. */
  isEnding = false;
  /** The database has rolled it back, and would run further statements outside of it. */
  isLost = false;
  #tail: Promise<unknown> = Promise.resolve();

  async add(write: () => Promise<Written>): Promise<Written> {
    const writing = this.#tail.then(write);
    this.#tail = writing.then(
      (written) => this.written.push(written),
      () => undefined,
    );
    return writing;
  }

  /** Waits for writes that the app does not await. */
  async finish(): Promise<void> {
    // Writes of other subscribers that run at the same time.
    await new Promise((resolve) => setImmediate(resolve));
    for (let tail: unknown; tail !== this.#tail;) {
      tail = this.#tail;
      await tail;
    }
    this.isEnding = true;
  }
}

async function isUndone(connection: LentConnection): Promise<boolean> {
  try {
    await connection.changeAll(UNDO);
    return true;
  } catch {
    return false;
  }
}

function refused(message: string): InvalidInputError {
  return new InvalidInputError(message, 'transaction');
}
