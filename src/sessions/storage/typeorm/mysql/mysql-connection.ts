import type { Sql } from '../sql.js';
import type { TransactionMode } from '../sql-transaction.js';
import type { ConnectionPool, PooledConnection } from '../servers/pooled-connection.js';

/** What is used of a connection of mysql2. */
interface DriverConnection {
  readonly config: { readonly multipleStatements?: boolean };
  readonly stream?: { destroy(): void };
  query(options: { sql: string; typeCast: TypeCast }, done: (error: Error | null, result: unknown) => void): unknown;
  format(text: string, values: unknown[]): string;
  release(): void;
  destroy(): void;
}

interface Field {
  readonly type: string;
  string(encoding: string): string | null;
}

type TypeCast = (field: Field) => string | number | null;

interface ChangeResult {
  readonly affectedRows: number;
  readonly insertId: number | string;
}

/** What is used of TypeORM's driver. */
export interface MysqlDriver {
  obtainMasterConnection(): Promise<unknown>;
}

export interface MysqlPoolOptions {
  /** Said to each new connection of ours, which no one else uses. */
  readonly settings?: readonly string[] | undefined;
  /** Whether to ask for the time. */
  readonly withTime: boolean;
}

/** In every other way of asking, daylight saving gets into it. */
const NOW = "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000 AS now";

const BEGIN: Readonly<Record<TransactionMode, readonly string[]>> = {
  // What is read in several statements has to be of one moment.
  read: ['SET TRANSACTION ISOLATION LEVEL REPEATABLE READ', 'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY'],
  write: ['SET TRANSACTION ISOLATION LEVEL READ COMMITTED', 'START TRANSACTION READ WRITE'],
};

export class MysqlPool implements ConnectionPool {
  readonly #prepared = new WeakSet<DriverConnection>();

  constructor(
    private readonly driver: MysqlDriver,
    private readonly options: MysqlPoolOptions,
  ) {}

  async acquire(): Promise<PooledConnection> {
    const connection = (await this.driver.obtainMasterConnection()) as DriverConnection;
    const isNew = !this.#prepared.has(connection);
    const { settings, withTime } = this.options;
    const onBegun = (): unknown => this.#prepared.add(connection);
    return new MysqlConnection(connection, { settings: isNew ? settings : undefined, withTime }, onBegun);
  }
}

/** A connection of mysql2, with several statements in one message where it was opened for that. */
class MysqlConnection implements PooledConnection {
  #isGone = false;
  /** What is to be said before the next statement. */
  #opening: readonly string[] = [];
  #now = 0;

  constructor(
    private readonly connection: DriverConnection,
    private readonly options: MysqlPoolOptions,
    private readonly onBegun: () => void,
  ) {}

  begin(mode: TransactionMode): void {
    const { settings } = this.options;
    this.#opening = [...(settings ?? []), ...BEGIN[mode]];
  }

  async begun(): Promise<void> {
    await this.#inTurn([]);
  }

  now(): number {
    return this.#now;
  }

  async rows<Row>(statement: Sql): Promise<Row[]> {
    const [rows] = await this.#inTurn([this.#textOf(statement)]);
    return rows as Row[];
  }

  async lockedRows<Row>(statement: Sql): Promise<Row[]> {
    const [rows] = await this.#inTurn([this.#textOf(statement)], { isTimeNeeded: true });
    return rows as Row[];
  }

  async change(statement: Sql): Promise<number> {
    const [result] = await this.#inTurn([this.#textOf(statement)]);
    return (result as ChangeResult).affectedRows;
  }

  async insert(statement: Sql): Promise<number> {
    const [result] = await this.#inTurn([this.#textOf(statement)]);
    return Number((result as ChangeResult).insertId);
  }

  async changeAll(statements: readonly Sql[]): Promise<void> {
    await this.#inTurn(statements.map((statement) => this.#textOf(statement)));
  }

  async commit(statements: readonly Sql[]): Promise<void> {
    await this.#inTurn([...statements.map((statement) => this.#textOf(statement)), 'COMMIT']);
  }

  async rollback(): Promise<void> {
    this.#opening = [];
    await this.#query('ROLLBACK');
  }

  release(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.connection.release();
  }

  discard(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.connection.destroy();
    this.connection.stream?.destroy();
  }

  #textOf({ text, values }: Sql): string {
    return this.connection.format(text, [...values]);
  }

  /** After what is to be said first; the time is asked for last, since whoever waited for a lock needs that of the end. */
  async #inTurn(texts: readonly string[], { isTimeNeeded = false } = {}): Promise<unknown[]> {
    const opening = this.#opening;
    this.#opening = [];
    const asksTime = this.options.withTime && (isTimeNeeded || opening.length > 0);
    const results = await this.#send([...opening, ...texts, ...(asksTime ? [NOW] : [])]);
    if (opening.length > 0) this.onBegun();
    if (asksTime) {
      const [row] = results.at(-1) as { now: number }[];
      this.#now = row?.now ?? 0;
    }
    return results.slice(opening.length, opening.length + texts.length);
  }

  /** One after the other, up to the first that fails; together where the connection allows. */
  async #send(texts: readonly string[]): Promise<unknown[]> {
    if (this.connection.config.multipleStatements && texts.length > 1) {
      return (await this.#query(texts.join('; '))) as unknown[];
    }
    const results: unknown[] = [];
    for (const text of texts) results.push(await this.#query(text));
    return results;
  }

  #query(text: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.connection.query({ sql: text, typeCast }, (error, result) => (error ? reject(error) : resolve(result)));
    });
  }
}

const NUMBERS = new Set(['TINY', 'SHORT', 'LONG', 'INT24', 'LONGLONG', 'DECIMAL', 'NEWDECIMAL']);

/** Numbers are whole and safe, whatever their column; text that is kept as bytes is text all the same. */
function typeCast(field: Field): string | number | null {
  const text = field.string('utf8');
  return text !== null && NUMBERS.has(field.type) ? Number(text) : text;
}
