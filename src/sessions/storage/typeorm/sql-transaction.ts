import type { AnnouncedLog, Announcements } from './announcements.js';
import type { Dialect } from './dialect.js';
import type { Sql } from './sql.js';
import type { Tables } from './tables.js';

/** Runs statements on one connection. */
export interface StatementRunner {
  rows<Row>(statement: Sql): Promise<Row[]>;
  /** Rows that the statement locks, perhaps after a wait: the time is taken again once it has them. */
  lockedRows<Row>(statement: Sql): Promise<Row[]>;
  /** Answers how many rows it changed. */
  change(statement: Sql): Promise<number>;
  /** Inserts one row, and answers what was generated for the column `key`. */
  insert(statement: Sql, key: string): Promise<number>;
  /** Runs statements whose answers nobody needs, in as few round trips as the driver allows. */
  changeAll(statements: readonly Sql[]): Promise<void>;
}

/** A transaction that somebody else began and ends. */
export interface SqlTransaction extends StatementRunner {
  readonly dialect: Dialect;
  readonly tables: Tables;
  /** The index that finds a session by its ids. */
  readonly sessionsKey: Sql;
  /** The store's time of this transaction: of its beginning, or of when it last got locks. */
  readonly now: number;
  /** Leaves statements to be sent together with the commit, which saves a round trip. Nothing may follow them. */
  finishWith(statements: readonly Sql[]): void;
  /** Has the commit tell other processes how far a log has come, where the database can. */
  announce(log: AnnouncedLog): void;
  /** Statements that tell it of the sessions that match, as long as they are there. */
  announcementsOfDeletion(where: Sql): readonly Sql[];
}

export type TransactionMode = 'read' | 'write';

export type Work<Result> = (transaction: SqlTransaction) => Promise<Result>;

export interface TransactionOptions {
  /** Whether the work runs a statement before it looks at the time, so that the transaction begins along with it. */
  readonly isTimeNeededLater?: boolean;
}

export interface WriteOptions extends TransactionOptions {
  /** Since when the caller has waited, for whom the limit of time counts from earlier. */
  readonly calledAt?: number;
  /** Whether others that are in the way end it at once, since the caller has another way to try. */
  readonly isTriedOnce?: boolean;
}

/** Runs work in transactions of an open database. */
export interface Transactions {
  /** A transaction that sees one moment of the database, and changes nothing. */
  read<Result>(work: Work<Result>, options?: TransactionOptions): Promise<Result>;
  /** A transaction whose work may be tried several times, from the beginning. */
  write<Result>(work: Work<Result>, options?: WriteOptions): Promise<Result>;
  /** Waits for what is under way, when nothing more is asked for. */
  finished(): Promise<void>;
}

/** What the transactions of one database have in common. */
export interface DatabaseFacts {
  readonly dialect: Dialect;
  readonly tables: Tables;
  readonly sessionsKey: Sql;
  readonly announcements?: Announcements | undefined;
}

/** A transaction over a connection on which it was begun. */
export class OpenTransaction implements SqlTransaction {
  readonly dialect: Dialect;
  readonly tables: Tables;
  readonly sessionsKey: Sql;
  readonly closingStatements: Sql[] = [];
  #now: number | undefined;
  readonly #announced: AnnouncedLog[] = [];
  readonly #announcements: Announcements | undefined;

  constructor(
    private readonly runner: StatementRunner,
    { dialect, tables, sessionsKey, announcements }: DatabaseFacts,
    private readonly time: () => number,
  ) {
    this.dialect = dialect;
    this.tables = tables;
    this.sessionsKey = sessionsKey;
    this.#announcements = announcements;
  }

  get now(): number {
    return (this.#now ??= this.time());
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

  finishWith(statements: readonly Sql[]): void {
    this.closingStatements.push(...statements);
  }

  announce(log: AnnouncedLog): void {
    this.#announced.push(log);
  }

  announcementsOfDeletion(where: Sql): readonly Sql[] {
    return this.#announcements ? [this.#announcements.ofDeletion(this.tables, where)] : [];
  }

  /** What is to be said once the transaction is committed. */
  get announcement(): Sql | undefined {
    return this.#announced.length > 0 ? this.#announcements?.ofAppends(this.#announced) : undefined;
  }
}
