import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../../domain/process/clock.js';
import { StoreUnavailableError } from '../../../domain/errors/errors.js';
import { type PlanTime, SLACK_MS } from '../../plan-time.js';
import type {
  CreatedRows,
  DirectCreate,
  DirectWrites,
  MessageAnswer,
  PlannedMessage,
} from '../append/direct-writes.js';
import {
  type DatabaseContext,
  OpenTransaction,
  type TransactionMode,
  type TransactionOptions,
  type Transactions,
  type Work,
  type WriteOptions,
} from '../sql/transaction.js';
import type { ConnectionPool, PooledConnection } from './connection-pool.js';
import { READ_ONLY } from './postgres/standby.js';
import {
  findDriverErrorCode,
  databaseTimedOut,
  isCommitInDoubt,
  isConflict,
  isConnectionLost,
  isDuplicateKey,
  storeUnavailable,
} from './driver-errors.js';

interface PooledTransactionsOptions extends DatabaseContext {
  readonly timeLimitMs: number;
  /** Default: the clock of the database. */
  readonly clock?: Clock | undefined;
  /** Host and port, for error messages. */
  readonly server?: string | undefined;
}

/** After conflicts and lost connections. */
const RETRIES = 5;
/** Share of the time limit for a single attempt. The caller needs the rest for its fallback. */
const SINGLE_ATTEMPT_SHARE = 0.5;
/**
 * Share of the time limit after which a connection without any answer is given up, if it was idle for longer than the
 * time limit before. Networks drop idle connections. The rest is for a new connection.
 */
const SILENCE_SHARE = 0.5;
/** After a direct write was refused for this, a server may have become a primary. */
const DIRECT_AGAIN_MS = 60_000;
const FIRST_BACKOFF_MS = 10;
const LONGEST_BACKOFF_MS = 200;

/** One attempt to run a transaction. */
interface Attempt {
  readonly mode: TransactionMode;
  connection?: PooledConnection;
  /** From here on the outcome is unknown if the connection fails. */
  isCommitting: boolean;
  isAbandoned: boolean;
}

interface Limits {
  readonly deadline: number;
  /** For a commit that is already running. */
  readonly commitDeadline: number;
}

/** Runs transactions on pooled connections, with retries after conflicts and a time limit. */
export class PooledTransactions implements Transactions, DirectWrites {
  readonly #running = new Set<Promise<unknown>>();
  /** From when on, by `performance.now()`. */
  #writesDirectlyFrom = 0;

  constructor(
    private readonly pool: ConnectionPool,
    private readonly options: PooledTransactionsOptions,
  ) {}

  read<Result>(work: Work<Result>, options?: TransactionOptions): Promise<Result> {
    return this.#tracked(this.#withRetries('read', work, options));
  }

  write<Result>(work: Work<Result>, options?: WriteOptions): Promise<Result> {
    return this.#tracked(this.#withRetries('write', work, options));
  }

  writeDirectly(
    plan: (moment: PlanTime) => PlannedMessage | undefined,
    calledAt: number,
  ): Promise<MessageAnswer | undefined> {
    const { timeLimitMs } = this.options;
    const deadline = calledAt + timeLimitMs * SINGLE_ATTEMPT_SHARE;
    const send = (attempt: Attempt): Promise<MessageAnswer | undefined> =>
      this.#sendDirectly(attempt, (connection, moment) => this.#messageOn(connection, plan(moment)));
    // Its caller looks whether it was written, which takes time.
    return this.#tracked(this.#directly(send, { deadline, commitDeadline: deadline }));
  }

  createDirectly(plan: (moment: PlanTime) => DirectCreate, calledAt: number): Promise<CreatedRows | undefined> {
    const { timeLimitMs, tables } = this.options;
    const deadline = calledAt + timeLimitMs * SINGLE_ATTEMPT_SHARE;
    const send = (attempt: Attempt): Promise<CreatedRows | undefined> =>
      this.#sendDirectly(attempt, (connection, moment) => () => connection.createDirectly(tables, plan(moment)));
    return this.#tracked(this.#directly(send, { deadline, commitDeadline: calledAt + timeLimitMs }));
  }

  async finished(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  async #tracked<Result>(running: Promise<Result>): Promise<Result> {
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Without retries: the caller then uses a transaction, which tells an unknown outcome. */
  async #directly<Result>(
    send: (attempt: Attempt) => Promise<Result | undefined>,
    limits: Limits,
  ): Promise<Result | undefined> {
    if (this.#moment === undefined || performance.now() < this.#writesDirectlyFrom) return undefined;
    const attempt: Attempt = { mode: 'write', isCommitting: false, isAbandoned: false };
    try {
      return await this.#withTimeout(attempt, () => send(attempt), limits);
    } catch (error) {
      if (error instanceof StoreUnavailableError && attempt.isCommitting) throw error;
      // The default of the server, which transactions override, or a standby.
      if (findDriverErrorCode(error) === READ_ONLY) this.#writesDirectlyFrom = performance.now() + DIRECT_AGAIN_MS;
      return undefined;
    }
  }

  /** `undefined` if the server's time is not known. */
  get #moment(): PlanTime | undefined {
    const { clock } = this.options;
    if (clock) return { now: clock.now(), slackMs: 0 };
    const { now } = this.pool.time;
    return now === undefined ? undefined : { now, slackMs: SLACK_MS };
  }

  /** Sends the message that `prepare` returns; `undefined` is none. */
  async #sendDirectly<Result>(
    attempt: Attempt,
    prepare: (connection: PooledConnection, moment: PlanTime) => (() => Promise<Result | undefined>) | undefined,
  ): Promise<Result | undefined> {
    const connection = await this.#acquire(attempt);
    const moment = this.#moment;
    let send: (() => Promise<Result | undefined>) | undefined;
    try {
      send = moment && connection.canWriteDirectly ? prepare(connection, moment) : undefined;
    } finally {
      if (!send) connection.release();
    }
    if (!send) return undefined;
    attempt.isCommitting = true;
    try {
      const result = await send();
      connection.release();
      return result;
    } catch (error) {
      await rollBackAndRelease(connection, error);
      throw isCommitInDoubt(error) ? storeUnavailable(error, true, this.options.server) : error;
    }
  }

  #messageOn(
    connection: PooledConnection,
    message: PlannedMessage | undefined,
  ): (() => Promise<MessageAnswer>) | undefined {
    if (!message) return undefined;
    const { dialect, tables, notifications } = this.options;
    const { logs, news } = message.rows;
    const notification = logs.length + news.size > 0 ? notifications?.ofCommit(logs, news) : undefined;
    return () => connection.writeDirectly({ dialect, tables, message, notification });
  }

  async #withRetries<Result>(
    mode: TransactionMode,
    work: Work<Result>,
    { calledAt = performance.now(), isSingleAttempt = false, beginsLazily = false }: WriteOptions = {},
  ): Promise<Result> {
    const { timeLimitMs } = this.options;
    const deadline = calledAt + timeLimitMs * (isSingleAttempt ? SINGLE_ATTEMPT_SHARE : 1);
    const limits = { deadline, commitDeadline: calledAt + timeLimitMs };
    let retries = 0;
    for (let tries = 1; ; tries++) {
      try {
        const attempt: Attempt = { mode, isCommitting: false, isAbandoned: false };
        return await this.#withTimeout(attempt, () => this.#run(attempt, work, beginsLazily), limits);
      } catch (error) {
        const isConflictOrLost = isConflict(error) || isConnectionLost(error);
        if (isConflictOrLost) retries += 1;
        const canRetry = isConflictOrLost ? retries <= RETRIES : isDuplicateKey(error);
        const backoff = Math.random() * Math.min(FIRST_BACKOFF_MS * 2 ** tries, LONGEST_BACKOFF_MS);
        const isTooLate = performance.now() + backoff > deadline;
        if (isSingleAttempt || isTooLate || !canRetry) throw storeUnavailable(error, false, this.options.server);
        await delay(backoff);
      }
    }
  }

  async #withTimeout<Result>(
    attempt: Attempt,
    run: () => Promise<Result>,
    { deadline, commitDeadline }: Limits,
  ): Promise<Result> {
    if (performance.now() >= deadline)
      throw new StoreUnavailableError('There was no time left for the database.', false);
    const { timeLimitMs, server, dialect } = this.options;
    const silenceLimitMs = timeLimitMs * SILENCE_SHARE;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_resolve, reject) => {
      const giveUp = (error: Error): void => {
        attempt.isAbandoned = true;
        attempt.connection?.discard();
        reject(error);
      };
      const check = (): void => {
        // A running commit gets the full time limit, because giving it up makes its outcome unknown.
        const left = (attempt.isCommitting ? commitDeadline : deadline) - performance.now();
        const { silentSince, idleMs = 0 } = attempt.connection ?? {};
        const silentMs = silentSince === undefined ? 0 : performance.now() - silentSince;
        const isMute = silentMs > 0 && dialect.name === 'postgres';
        const isDropped = silentMs >= silenceLimitMs && idleMs > timeLimitMs && !attempt.isCommitting;
        if (left > 0 && !isDropped) {
          const isSilent = silentMs > 0 && silentMs < silenceLimitMs;
          timer = setTimeout(check, Math.ceil(isSilent ? Math.min(left, silenceLimitMs - silentMs) : left));
          return;
        }
        if (silentSince !== undefined && silentMs >= silenceLimitMs / 2) this.pool.suspect(silentSince);
        if (left > 0) giveUp(new Error('The connection stopped answering'));
        else giveUp(databaseTimedOut(timeLimitMs, attempt.isCommitting, server, isMute && idleMs === 0));
      };
      timer = setTimeout(check, Math.min(deadline - performance.now(), silenceLimitMs));
    });
    try {
      return await Promise.race([run(), timeout]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #acquire(attempt: Attempt): Promise<PooledConnection> {
    const connection = await this.pool.acquire();
    if (attempt.isAbandoned) {
      connection.release();
      throw new StoreUnavailableError('The database had no connection left in time.', false);
    }
    attempt.connection = connection;
    return connection;
  }

  async #run<Result>(attempt: Attempt, work: Work<Result>, beginsLazily: boolean): Promise<Result> {
    const connection = await this.#acquire(attempt);
    try {
      connection.begin(attempt.mode);
      if (!beginsLazily) await connection.flushBegin();
      const { clock = connection } = this.options;
      const transaction = new OpenTransaction(connection, this.options, {
        time: () => clock.now(),
        serverTime: this.options.clock ? undefined : this.options.dialect.serverTime,
        commit(message) {
          attempt.isCommitting = attempt.mode === 'write';
          return connection.commit(message);
        },
      });
      const result = await work(transaction);
      if (!transaction.isCommitted) await transaction.commitWith([]);
      connection.release();
      return result;
    } catch (error) {
      await rollBackAndRelease(connection, error);
      throw attempt.isCommitting && isCommitInDoubt(error) ? storeUnavailable(error, true, this.options.server) : error;
    }
  }
}

/** A failed transaction may still be open and hold locks. */
async function rollBackAndRelease(connection: PooledConnection, error: unknown): Promise<void> {
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
