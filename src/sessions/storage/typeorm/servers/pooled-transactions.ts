import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../../domain/clock.js';
import { StoreUnavailableError } from '../../../domain/errors.js';
import { storeUnavailable } from '../driver-errors.js';
import {
  type DatabaseFacts,
  OpenTransaction,
  type TransactionMode,
  type TransactionOptions,
  type Transactions,
  type Work,
  type WriteOptions,
} from '../sql-transaction.js';
import type { ConnectionPool, PooledConnection } from './pooled-connection.js';
import { isConflict, isConnectionLost, isKeyTaken } from './server-errors.js';

export interface PooledTransactionsOptions extends DatabaseFacts {
  readonly timeLimitMs: number;
  /** The database's own clock unless given. */
  readonly clock?: Clock | undefined;
}

/** After the first try, whether the connection broke or others were in the way. */
const RETRIES = 5;
/** Of the time that there is, where the caller has another way to try. */
const SHARE_OF_A_FIRST_TRY = 0.5;
const FIRST_BACKOFF_MS = 10;
const LONGEST_BACKOFF_MS = 200;

/** One try of a transaction, for whoever has to end it from outside. */
interface Attempt {
  readonly mode: TransactionMode;
  readonly isTimeNeededLater: boolean;
  connection?: PooledConnection;
  /** From here on nobody but the database knows what became of it. */
  isCommitting: boolean;
  isAbandoned: boolean;
}

interface Limits {
  readonly deadline: number;
  /** For what is being committed by then. */
  readonly commitDeadline: number;
}

/** Runs transactions on the connections of a pool, again where others were in the way, and never without end. */
export class PooledTransactions implements Transactions {
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(
    private readonly pool: ConnectionPool,
    private readonly options: PooledTransactionsOptions,
  ) {}

  read<Result>(work: Work<Result>, options?: TransactionOptions): Promise<Result> {
    return this.#tracked(this.#retrying('read', work, options));
  }

  write<Result>(work: Work<Result>, options?: WriteOptions): Promise<Result> {
    return this.#tracked(this.#retrying('write', work, options));
  }

  async finished(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  async #tracked<Result>(running: Promise<Result>): Promise<Result> {
    this.#underWay.add(running);
    try {
      return await running;
    } finally {
      this.#underWay.delete(running);
    }
  }

  async #retrying<Result>(
    mode: TransactionMode,
    work: Work<Result>,
    { calledAt = performance.now(), isTriedOnce = false, isTimeNeededLater = false }: WriteOptions = {},
  ): Promise<Result> {
    const { timeLimitMs } = this.options;
    const deadline = calledAt + timeLimitMs * (isTriedOnce ? SHARE_OF_A_FIRST_TRY : 1);
    const limits = { deadline, commitDeadline: calledAt + timeLimitMs };
    let retries = 0;
    for (let tries = 1; ; tries++) {
      try {
        return await this.#withinLimit(
          { mode, isTimeNeededLater, isCommitting: false, isAbandoned: false },
          work,
          limits,
        );
      } catch (error) {
        const isCounted = isConflict(error) || isConnectionLost(error);
        if (isCounted) retries += 1;
        const isWorthAnother = isCounted ? retries <= RETRIES : isKeyTaken(error);
        const backoff = Math.random() * Math.min(FIRST_BACKOFF_MS * 2 ** tries, LONGEST_BACKOFF_MS);
        const isTooLate = performance.now() + backoff > deadline;
        if (isTriedOnce || isTooLate || !isWorthAnother) throw storeUnavailable(error, false);
        await delay(backoff);
      }
    }
  }

  async #withinLimit<Result>(
    attempt: Attempt,
    work: Work<Result>,
    { deadline, commitDeadline }: Limits,
  ): Promise<Result> {
    if (performance.now() >= deadline)
      throw new StoreUnavailableError('There was no time left for the database.', false);
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_resolve, reject) => {
      const giveUp = (): void => {
        const left = commitDeadline - performance.now();
        // What is being committed gets all the time there is, since nobody could say what became of it.
        if (attempt.isCommitting && left > 0) {
          timer = setTimeout(giveUp, left);
          return;
        }
        attempt.isAbandoned = true;
        attempt.connection?.discard();
        const limit = `The database did not answer within ${this.options.timeLimitMs} ms.`;
        reject(new StoreUnavailableError(limit, attempt.isCommitting));
      };
      timer = setTimeout(giveUp, deadline - performance.now());
    });
    try {
      return await Promise.race([this.#run(attempt, work), tooLate]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #run<Result>(attempt: Attempt, work: Work<Result>): Promise<Result> {
    const connection = await this.pool.acquire();
    if (attempt.isAbandoned) {
      connection.release();
      throw new StoreUnavailableError('The database had no connection left in time.', false);
    }
    attempt.connection = connection;
    try {
      connection.begin(attempt.mode);
      if (!attempt.isTimeNeededLater) await connection.begun();
      const { clock = connection } = this.options;
      const transaction = new OpenTransaction(connection, this.options, () => clock.now());
      const result = await work(transaction);
      attempt.isCommitting = attempt.mode === 'write';
      await connection.commit(transaction.closingStatements, transaction.announcement);
      connection.release();
      return result;
    } catch (error) {
      await giveBack(connection, error);
      throw attempt.isCommitting && isConnectionLost(error) ? storeUnavailable(error, true) : error;
    }
  }
}

/** A transaction that failed may still be open, with all its locks. */
async function giveBack(connection: PooledConnection, error: unknown): Promise<void> {
  if (isConnectionLost(error)) {
    connection.discard();
    return;
  }
  try {
    await connection.rollback();
    connection.release();
  } catch {
    connection.discard();
  }
}
