import type { Tables } from '../tables.js';
import type { Dialect } from './dialect.js';
import { type Sql, sql } from './sql.js';

/** Runs statements on one connection. */
export interface StatementRunner {
  rows<Row>(statement: Sql): Promise<Row[]>;
  /** Runs a statement that locks rows. Because it may wait, the time is read again after it. */
  lockedRows<Row>(statement: Sql): Promise<Row[]>;
  /** Returns the number of changed rows. */
  change(statement: Sql): Promise<number>;
  /** Inserts one row and returns the generated value of the column `key`, or 0 if the statement skipped the row. */
  insert(statement: Sql, key: string): Promise<number>;
  /** Runs statements without results, in as few round trips as the driver allows. */
  changeAll(statements: readonly Sql[]): Promise<void>;
}

/** A transaction as operations see it. {@link Transactions} begins and ends it. */
export interface SqlTransaction extends StatementRunner {
  readonly dialect: Dialect;
  readonly tables: Tables;
  /** The index that finds a session by its ids. */
  readonly sessionsKey: Sql;
  /** The store's time when the transaction began, or when it last got locks. */
  readonly now: number;
  /** The time for a statement that the transaction begins with, which is sent before `now` is known. */
  readonly time: Sql;
  /** Sends these statements together with COMMIT, which saves a round trip. No other statement may follow. */
  addToCommit(statements: readonly Sql[]): void;
  /** Runs queries together with COMMIT, after the statements added to it, and returns their rows. No statement may follow. */
  commitWith(queries: readonly Sql[]): Promise<readonly unknown[][]>;
  /** Notifies other processes after the commit, if the database can. */
  notify(log: LogProgress): void;
  notifyConsumers(news: ConsumerNews): void;
  /** Statements that notify other processes of a deletion. They must run before it. */
  deletionNotifications(where: Sql): readonly Sql[];
}

export type TransactionMode = 'read' | 'write';

export type Work<Result> = (transaction: SqlTransaction) => Promise<Result>;

export interface TransactionOptions {
  /** The work runs a statement before it reads `now`, so BEGIN can share the round trip of that statement. */
  readonly beginsLazily?: boolean;
}

/** For work that begins with a statement, and compares times after it. */
export const BEGIN_LAZILY: TransactionOptions = { beginsLazily: true };

export interface WriteOptions extends TransactionOptions {
  /** When the caller began to wait. The time limit counts from then. */
  readonly calledAt?: number;
  /** No retries after a conflict, because the caller has its own fallback. */
  readonly isSingleAttempt?: boolean;
}

/** Runs work in transactions of an open database. */
export interface Transactions {
  /** Runs a read-only transaction on one snapshot. */
  read<Result>(work: Work<Result>, options?: TransactionOptions): Promise<Result>;
  /** Runs a write transaction. The work may run several times. */
  write<Result>(work: Work<Result>, options?: WriteOptions): Promise<Result>;
  /** Waits until all running transactions have ended. */
  finished(): Promise<void>;
}

/** The last event of a session's log. */
export interface LogProgress {
  readonly pk: number;
  readonly lastSeq: number;
  /** The number of the last partial event that was saved with it. */
  readonly partial?: number | undefined;
}

/** Sessions that began to wait for the dispatch to consumers, or work of consumers. */
export type ConsumerNews = 'marks' | 'work';

/** How a database notifies other processes, if it can. */
export interface ChangeNotifications {
  /** Runs after the commit. */
  ofCommit(logs: readonly LogProgress[], news: ReadonlySet<ConsumerNews>): Sql;
  /** Runs before the deletion. Other processes receive it with its commit. */
  ofDeletion(tables: Tables, where: Sql): Sql;
}

/** What all transactions of a database share. */
export interface DatabaseContext {
  readonly dialect: Dialect;
  readonly tables: Tables;
  readonly sessionsKey: Sql;
  readonly notifications?: ChangeNotifications | undefined;
}

/** The last statements of a transaction, and the queries after them. */
export interface CommitMessage {
  readonly statements: readonly Sql[];
  readonly queries: readonly Sql[];
  /** Runs after the commit; its failure is ignored. */
  readonly notification?: Sql | undefined;
}

interface OpenTransactionOptions {
  readonly time: () => number;
  /** Where the time comes from, if it is not known before the first statement. */
  readonly serverTime?: Sql | undefined;
  /** Commits with queries. Default: they run, and the owner of the transaction commits later. */
  readonly commit?: (message: CommitMessage) => Promise<readonly unknown[][]>;
}

/** A transaction on a connection. */
export class OpenTransaction implements SqlTransaction {
  readonly dialect: Dialect;
  readonly tables: Tables;
  readonly sessionsKey: Sql;
  readonly #commitStatements: Sql[] = [];
  isCommitted = false;
  #now: number | undefined;
  readonly #appended: LogProgress[] = [];
  readonly #news = new Set<ConsumerNews>();
  readonly #notifications: ChangeNotifications | undefined;

  constructor(
    private readonly runner: StatementRunner,
    { dialect, tables, sessionsKey, notifications }: DatabaseContext,
    private readonly options: OpenTransactionOptions,
  ) {
    this.dialect = dialect;
    this.tables = tables;
    this.sessionsKey = sessionsKey;
    this.#notifications = notifications;
  }

  get now(): number {
    return (this.#now ??= this.options.time());
  }

  get time(): Sql {
    return this.options.serverTime ?? sql`${this.now}`;
  }

  rows<Row>(statement: Sql): Promise<Row[]> {
    return this.runner.rows<Row>(statement);
  }

  async lockedRows<Row>(statement: Sql): Promise<Row[]> {
    const rows = await this.runner.lockedRows<Row>(statement);
    this.#now = undefined;
    return rows;
  }

  change(statement: Sql): Promise<number> {
    return this.runner.change(statement);
  }

  insert(statement: Sql, key: string): Promise<number> {
    return this.runner.insert(statement, key);
  }

  changeAll(statements: readonly Sql[]): Promise<void> {
    return this.runner.changeAll(statements);
  }

  addToCommit(statements: readonly Sql[]): void {
    this.#commitStatements.push(...statements);
  }

  /** The statements to send with COMMIT, which are then no longer to be sent. */
  takeCommitStatements(): readonly Sql[] {
    return this.#commitStatements.splice(0);
  }

  async commitWith(queries: readonly Sql[]): Promise<readonly unknown[][]> {
    const statements = this.takeCommitStatements();
    const { commit } = this.options;
    if (commit) {
      this.isCommitted = true;
      return commit({ statements, queries, notification: this.notification });
    }
    await this.runner.changeAll(statements);
    const found: unknown[][] = [];
    for (const query of queries) found.push(await this.runner.rows(query));
    return found;
  }

  notify(log: LogProgress): void {
    this.#appended.push(log);
  }

  notifyConsumers(news: ConsumerNews): void {
    this.#news.add(news);
  }

  deletionNotifications(where: Sql): readonly Sql[] {
    return this.#notifications ? [this.#notifications.ofDeletion(this.tables, where)] : [];
  }

  /** The statement that notifies other processes after the commit. */
  get notification(): Sql | undefined {
    const isSilent = this.#appended.length + this.#news.size === 0;
    return isSilent ? undefined : this.#notifications?.ofCommit(this.#appended, this.#news);
  }
}
