import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import type { Clock } from '../../../../domain/process/clock.js';
import { StoreUnavailableError } from '../../../../domain/errors/errors.js';
import { leaveToOthers } from '../../../../domain/process/event-loop-turn.js';
import type { SessionHead } from '../../../planned-write.js';
import type { PlanTime } from '../../../plan-time.js';
import type {
  CreatedRows,
  DirectCreate,
  DirectWrites,
  MessageAnswer,
  PlannedMessage,
} from '../../append/direct-writes.js';
import { type PlannedSession, writeChildren, writeSums } from '../../append/planned-rows.js';
import { growScopes, updateUnchanged } from '../../append/sql-writes.js';
import { insertOfSession, UNLESS_THERE } from '../../append/insert-session.js';
import {
  changeIndex,
  columnsWith,
  toSessionHead,
  METADATA_COLUMN,
  type MetadataRow,
  type RecordRow,
} from '../../sql/session-rows.js';
import { selectSharedState, type StateRow } from '../../state/read-state.js';
import { expectReadable } from '../../state/state-sizes.js';
import { STATE_OWNER, writeEntries } from '../../state/write-state.js';
import { sqliteDialect } from '../../sql/dialect.js';
import { NO_SQL, sql, sqlList } from '../../sql/sql.js';
import {
  type DatabaseContext,
  OpenTransaction,
  type SqlTransaction,
  type TransactionMode,
  type Transactions,
  type Work,
  type WriteOptions,
} from '../../sql/transaction.js';
import { sessionsKeyOf, tablesOf } from '../../tables.js';
import { findDriverErrorCode, isBusy, storeUnavailable } from '../driver-errors.js';
import { type DriverConnection, execute, SqliteStatements } from './sqlite-statements.js';
import { storeClosed } from '../../../../domain/errors/store-closed.js';

/** Waits for the write lock of another process must not block the event loop. */
const LONGEST_BACKOFF_MS = 20;

const BEGIN: Readonly<Record<TransactionMode, string>> = {
  read: 'BEGIN',
  // Takes the write lock immediately, because a later upgrade may fail.
  write: 'BEGIN IMMEDIATE',
};

/** TypeORM says that a transaction is open shortly before it begins, and for ever if that fails. */
const LONGEST_START_MS = 100;

/** A statement of the app runs some promises after TypeORM announces it. */
const PROMISES_OF_A_STATEMENT = 100;

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
export class SqliteTransactions implements Transactions, DirectWrites {
  readonly context: DatabaseContext;
  #tail: Promise<unknown> = Promise.resolve();
  /** The transaction that is open on the connection. */
  #current: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  #isOpen = false;
  /** Statements of the app that TypeORM has announced and that have not ended. */
  #appStatements = 0;
  #appStatementSince = 0;
  /** Statements of the app that ran inside a transaction of the store: TypeORM before 1.0 does not wait. */
  #unawaited = 0;
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

  async writeDirectly(
    plan: (moment: PlanTime) => PlannedMessage | undefined,
    calledAt: number,
  ): Promise<MessageAnswer | undefined> {
    let message: PlannedMessage | undefined;
    // Before the lock, for which others wait.
    const prepare = (): void => {
      message = plan({ now: this.options.clock.now(), slackMs: 0 });
      if (!message) throw new Error('There is nothing to write');
    };
    try {
      return await this.#queued('write', (transaction) => writeDirectly(transaction, message), calledAt, prepare);
    } catch (error) {
      if (error instanceof ChangedSessions) return error.heads;
      if (error instanceof StoreUnavailableError && error.outcomeUnknown) throw error;
      return undefined;
    }
  }

  createDirectly(plan: (moment: PlanTime) => DirectCreate, calledAt: number): Promise<CreatedRows | undefined> {
    return this.#queued('write', (transaction) => createDirectly(transaction, plan), calledAt);
  }

  /** Waits for the transaction that is open on the connection. */
  async currentEnded(): Promise<void> {
    await this.#current;
  }

  /** A statement of the app must not become part of a transaction of the store, which may be rolled back. */
  async appStatementBegins(): Promise<void> {
    while (this.#isOpen) await this.#current;
    if (this.#unawaited > 0) {
      this.#unawaited -= 1;
      return;
    }
    this.#appStatements += 1;
    this.#appStatementSince = performance.now();
  }

  appStatementEnded(): void {
    if (this.#isOpen) this.#unawaited += 1;
    else this.#appStatements = Math.max(0, this.#appStatements - 1);
  }

  async finished(): Promise<void> {
    // Queued work may have queued more work.
    for (let tail: unknown; tail !== this.#tail;) {
      tail = this.#tail;
      await tail;
    }
    this.#isClosed = true;
  }

  /** @param prepare called before each attempt; if it throws, there is none */
  async #queued<Result>(
    mode: TransactionMode,
    work: Work<Result>,
    calledAt: number,
    prepare?: () => void,
  ): Promise<Result> {
    if (this.#isClosed) throw storeClosed();
    const attempt = (): Promise<Attempt<Result>> => this.#attempt(mode, work, prepare);
    const result = this.#tail.then(() => this.#retryWhileBusy(attempt, calledAt));
    this.#tail = result.catch(() => undefined);
    return result;
  }

  /** Retries while another process or the app holds the lock. Time in the queue behind that lock counts as waiting. */
  async #retryWhileBusy<Result>(attempt: () => Promise<Attempt<Result>>, calledAt: number): Promise<Result> {
    await leaveToOthers();
    for (;;) {
      const attempted = await attempt();
      if ('result' in attempted) return attempted.result;
      this.#busySince ??= performance.now();
      const waitedSince = Math.max(this.#busySince, calledAt);
      if (performance.now() > waitedSince + this.options.timeLimitMs) throw attempted.blockedBy;
      await delay(Math.random() * LONGEST_BACKOFF_MS);
    }
  }

  async #attempt<Result>(mode: TransactionMode, work: Work<Result>, prepare?: () => void): Promise<Attempt<Result>> {
    const runner = this.dataSource.createQueryRunner();
    const driver = (await runner.connect()) as DriverConnection;
    while (this.#appStatements > 0) await this.#appStatementsEnded();
    if (this.#isUsedByApp(driver, runner)) return { blockedBy: appTransactionOpen(this.options.timeLimitMs) };
    prepare?.();
    // Begins before its first `await`, so that the app cannot begin in between.
    const running = this.#transaction(BEGIN[mode], work, driver);
    this.#isOpen = true;
    this.#current = running.then(this.#markEnded, this.#markEnded);
    try {
      const result = await running;
      this.#resetBusy(mode);
      return { result };
    } catch (error) {
      if (isBusy(error)) return { blockedBy: storeUnavailable(error, false) };
      this.#resetBusy(mode);
      throw error instanceof ChangedSessions ? error : storeUnavailable(error, false);
    }
  }

  /** Another subscriber of the app may have kept an announced statement from running. */
  async #appStatementsEnded(): Promise<void> {
    for (let turn = 0; this.#appStatements > 0 && turn < PROMISES_OF_A_STATEMENT; turn++) await Promise.resolve();
    if (this.#appStatements === 0) return;
    await delay(Math.max(0, this.#appStatementSince + LONGEST_START_MS - performance.now()));
    this.#appStatements = 0;
  }

  /** Whether the app has a transaction on the connection, which all of a SQLite DataSource share. */
  #isUsedByApp({ inTransaction }: DriverConnection, { isTransactionActive }: QueryRunner): boolean {
    const isStarting = isTransactionActive && !inTransaction;
    this.#appStartsSince = isStarting ? (this.#appStartsSince ?? performance.now()) : undefined;
    if (this.#appStartsSince !== undefined) return performance.now() - this.#appStartsSince < LONGEST_START_MS;
    return inTransaction && !this.#isLeftOpen;
  }

  readonly #markEnded = (): void => {
    this.#isOpen = false;
  };

  #resetBusy(mode: TransactionMode): void {
    if (mode === 'write') this.#busySince = undefined;
  }

  async #transaction<Result>(begin: string, work: Work<Result>, driver: DriverConnection): Promise<Result> {
    this.#rollBack(driver);
    const statements = new SqliteStatements(driver);
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
      // Without room for the commit in the log of the file, there is none.
      throw storeUnavailable(error, findDriverErrorCode(error) !== 'SQLITE_FULL');
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

/** Rolls back a write that was planned on other sessions. */
class ChangedSessions extends Error {
  constructor(readonly heads: readonly SessionHead[]) {
    super('The sessions are not as they were');
  }
}

async function writeDirectly(
  transaction: SqlTransaction,
  message: PlannedMessage | undefined,
): Promise<MessageAnswer | undefined> {
  if (!message) return undefined;
  const { dialect, tables } = transaction;
  const { rows } = message;
  if (rows.scopes.length > 0 && (await transaction.change(growScopes(tables, rows, NO_SQL))) !== rows.scopes.length) {
    throw new Error('A scope is not the remembered one, or has no room');
  }
  for (const [index, session] of rows.sessions.entries()) {
    if ((await transaction.change(updateUnchanged(tables, session))) === 1) continue;
    const earlier = rows.sessions.slice(0, index).map(({ before }) => before);
    throw new ChangedSessions([...earlier, ...(await headsOf(transaction, rows.sessions.slice(index)))]);
  }
  transaction.addToCommit([...writeChildren(dialect, tables, rows), ...writeSums(dialect, tables, rows)]);
  return 'written';
}

async function headsOf(transaction: SqlTransaction, sessions: readonly PlannedSession[]): Promise<SessionHead[]> {
  const rows = await transaction.rows<RecordRow & MetadataRow>(
    sql`SELECT ${columnsWith(METADATA_COLUMN)} FROM ${transaction.tables.sessions} s
      WHERE s.pk IN (${sqlList(sessions.map(({ pk }) => pk))})`,
  );
  return rows.map(toSessionHead);
}

async function createDirectly(
  transaction: SqlTransaction,
  plan: (moment: PlanTime) => DirectCreate,
): Promise<CreatedRows | undefined> {
  const { tables, dialect } = transaction;
  const session = plan({ now: transaction.now, slackMs: 0 });
  const { record, limits } = session;
  const pk = await transaction.insert(sql`${insertOfSession(tables, session)} ${UNLESS_THERE}`, 'pk');
  if (pk === 0) return undefined;
  const state = session.state.map(({ name, value }) => ({ ownerPk: pk, name, value }));
  transaction.addToCommit([
    ...changeIndex(tables, { pk, record, before: '', after: session.metadata }),
    ...writeEntries(dialect, tables.sessionState, STATE_OWNER, state),
  ]);
  const isLive = sql`AND c.expires_at > ${record.createTime}`;
  const shared = await transaction.rows<StateRow>(selectSharedState({ tables, dialect, limits }, record, isLive));
  // Before the commit, so that nothing is written.
  expectReadable(shared, limits, record);
  return { pk, shared };
}

function appTransactionOpen(timeLimitMs: number): StoreUnavailableError {
  return new StoreUnavailableError(
    `A transaction of the app was open for ${timeLimitMs} ms on the connection that it shares with the store. Inside it, ` +
      'give the transaction to the append, and do all else before or after it.',
    false,
  );
}
