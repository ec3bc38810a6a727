import type { CreatedRows, DirectCreate, MessageAnswer } from '../../append/direct-writes.js';
import { MYSQL_NOW } from '../../sql/server-time.js';
import { mysqlDialect } from '../../sql/dialect.js';
import type { Sql } from '../../sql/sql.js';
import type { StateRow } from '../../state/read-state.js';
import type { Tables } from '../../tables.js';
import type { CommitMessage, TransactionMode } from '../../sql/transaction.js';
import {
  type ConnectionPool,
  type DirectMessage,
  ServerTime,
  SuspectConnections,
  type DriverStream,
  type ErrorEmitter,
  ignoreError,
  type PooledConnection,
} from '../connection-pool.js';
import { findDriverErrorCode, isDuplicateKey } from '../driver-errors.js';
import { directCreateOfMysql, directWriteOfMysql, headsIn, NOT_WRITTEN, selectHeadsOfMysql } from './direct-write.js';
import { GALERA_SETTINGS, isGaleraNode, isKnownAsSingle } from './galera.js';
import { refuseLongMessage } from './packet-limit.js';
import { type TypeCast, typeCast } from './type-cast.js';

/** The part of a mysql2 connection that is used here. */
export interface DriverConnection extends ErrorEmitter {
  readonly config: { readonly multipleStatements?: boolean };
  readonly stream?: DriverStream;
  off(event: 'error', listener: (error: Error) => void): unknown;
  query(options: { sql: string; typeCast: TypeCast }, done: (error: Error | null, result: unknown) => void): unknown;
  format(text: string, values: unknown[]): string;
  release(): void;
  destroy(): void;
}

interface ChangeResult {
  readonly affectedRows: number;
  readonly insertId: number | string;
}

type ConnectionCallback = (error: Error | null, connection: DriverConnection) => void;

/** The part of TypeORM's driver that is used here: a pool, or a cluster if there are replicas. Undefined when closed. */
export interface MysqlDriver {
  readonly pool?: { getConnection(done: ConnectionCallback): void };
  readonly poolCluster?: { getConnection(name: string, done: ConnectionCallback): void };
}

interface MysqlPoolOptions {
  /** Statements for every new connection that only the store uses. */
  readonly settings?: readonly string[] | undefined;
  /** Whether to read the server's time. */
  readonly withTime: boolean;
}

const NOW = `SELECT ${MYSQL_NOW} AS now`;
/** Direct writes ask for the time this often. */
const TIME_IS_OLD_MS = 2_000;

const BEGIN: Readonly<Record<TransactionMode, readonly string[]>> = {
  // All statements of a read see one snapshot.
  read: ['SET TRANSACTION ISOLATION LEVEL REPEATABLE READ', 'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY'],
  write: ['SET TRANSACTION ISOLATION LEVEL READ COMMITTED', 'START TRANSACTION READ WRITE'],
};

export class MysqlPool implements ConnectionPool {
  readonly #initialised = new WeakSet<DriverConnection>();
  readonly #suspects = new SuspectConnections();
  readonly time = new ServerTime();

  constructor(
    private readonly driver: MysqlDriver,
    private readonly options: MysqlPoolOptions,
  ) {}

  async acquire(): Promise<PooledConnection> {
    for (;;) {
      const taken = await this.#getConnection();
      const connection = this.#wrap(taken);
      if (!this.#suspects.isSuspect(taken)) return connection;
      connection.discard();
    }
  }

  suspect(since: number): void {
    this.#suspects.suspect(since);
  }

  #getConnection(): Promise<DriverConnection> {
    const { pool, poolCluster } = this.driver;
    return new Promise((resolve, reject) => {
      const done: ConnectionCallback = (error, connection) => {
        if (error) {
          reject(error);
          return;
        }
        resolve(connection);
      };
      if (poolCluster) poolCluster.getConnection('MASTER', done);
      else if (pool) pool.getConnection(done);
      else reject(new Error('The pool of connections is closed'));
    });
  }

  #wrap(connection: DriverConnection): MysqlConnection {
    const isNew = !this.#initialised.has(connection);
    const { settings, withTime } = this.options;
    return new MysqlConnection(connection, {
      physical: connection,
      settings: isNew ? settings : undefined,
      withTime,
      onBegun: () => this.#initialised.add(connection),
      idleMs: this.#suspects.idleMsOf(connection),
      hasJustAnswered: !isNew && this.#suspects.hasJustAnswered(connection),
      time: this.time,
      onAnswered: () => this.#suspects.recordAnswer(connection),
    });
  }
}

/** A connection in a transaction of the app. Releasing it only ends the use by the store. */
export function lentMysqlConnection(connection: DriverConnection, withTime: boolean): PooledConnection {
  const lent: DriverConnection = {
    config: connection.config,
    on: (event, listener) => connection.on(event, listener),
    off: (event, listener) => connection.off(event, listener),
    query: (options, done) => connection.query(options, done),
    format: (text, values) => connection.format(text, values),
    release: ignoreError,
    destroy: ignoreError,
  };
  const time = new ServerTime();
  const unused = { idleMs: 0, hasJustAnswered: false, time, onBegun: ignoreError, onAnswered: ignoreError };
  return new MysqlConnection(lent, { physical: connection, withTime, ...unused });
}

interface MysqlConnectionOptions extends MysqlPoolOptions {
  /** The connection of the driver's pool. */
  readonly physical: DriverConnection;
  readonly onBegun: () => void;
  readonly onAnswered: () => void;
  readonly idleMs: number;
  readonly hasJustAnswered: boolean;
  readonly time: ServerTime;
}

/**
 * A mysql2 connection. With `multipleStatements` it sends several statements in one message, unless the server is a node of a
 * Galera cluster: there, a transaction in one message may be undone for another node's and yet succeed.
 */
class MysqlConnection implements PooledConnection {
  readonly idleMs: number;
  readonly #takenAt = performance.now();
  readonly #initialBytes: number | undefined;
  #hasAnswer = false;
  #isGone = false;
  #isBroken = false;
  /** Statements to send before the next one. */
  #pendingBegin: readonly string[] = [];
  #now = 0;

  constructor(
    private readonly connection: DriverConnection,
    private readonly options: MysqlConnectionOptions,
  ) {
    this.idleMs = options.idleMs;
    // The pool handles only the first error.
    connection.on('error', this.#markBroken);
    this.#initialBytes = connection.stream?.bytesRead;
  }

  get silentSince(): number | undefined {
    const isSilent = !this.#hasAnswer && this.connection.stream?.bytesRead === this.#initialBytes;
    return isSilent ? this.#takenAt : undefined;
  }

  begin(mode: TransactionMode): void {
    this.#pendingBegin = BEGIN[mode];
  }

  async flushBegin(): Promise<void> {
    await this.#run([]);
  }

  now(): number {
    return this.#now;
  }

  async rows<Row>(statement: Sql): Promise<Row[]> {
    const [rows] = await this.#run([this.#textOf(statement)]);
    return rows as Row[];
  }

  async lockedRows<Row>(statement: Sql): Promise<Row[]> {
    const [rows] = await this.#run([this.#textOf(statement)], { isTimeNeeded: true });
    return rows as Row[];
  }

  async change(statement: Sql): Promise<number> {
    const [result] = await this.#run([this.#textOf(statement)]);
    return (result as ChangeResult).affectedRows;
  }

  async insert(statement: Sql): Promise<number> {
    const [result] = await this.#run([this.#textOf(statement)]);
    return Number((result as ChangeResult).insertId);
  }

  async changeAll(statements: readonly Sql[]): Promise<void> {
    await this.#run(statements.map((statement) => this.#textOf(statement)));
  }

  async commit({ statements, queries }: CommitMessage): Promise<readonly unknown[][]> {
    const texts = [...statements, ...queries].map((statement) => this.#textOf(statement));
    const results = await this.#run([...texts, 'COMMIT']);
    return results.slice(statements.length, texts.length) as unknown[][];
  }

  get canWriteDirectly(): boolean {
    const { hasJustAnswered, physical } = this.options;
    return hasJustAnswered && this.connection.config.multipleStatements === true && isKnownAsSingle(physical);
  }

  async writeDirectly({ dialect, tables, message }: DirectMessage): Promise<MessageAnswer> {
    if (await this.#inOneMessage(directWriteOfMysql(dialect, tables, message))) return 'written';
    const [, rows] = (await this.#query(
      `ROLLBACK; ${this.#textOf(selectHeadsOfMysql(dialect, tables, message))}`,
    )) as unknown[];
    return headsIn(rows);
  }

  async createDirectly(tables: Tables, session: DirectCreate): Promise<CreatedRows | undefined> {
    const results = await this.#inOneMessage(directCreateOfMysql(mysqlDialect, tables, session));
    if (!results) {
      await this.rollback();
      return undefined;
    }
    return { pk: Number((results[0] as ChangeResult).insertId), shared: results.at(-1) as StateRow[] };
  }

  /** Runs these statements as a transaction. `undefined` if they refused to write, and it has to be rolled back. */
  async #inOneMessage(statements: readonly Sql[]): Promise<unknown[] | undefined> {
    const { time, withTime } = this.options;
    const asksTime = withTime && time.age > TIME_IS_OLD_MS;
    const texts = statements.map((statement) => this.#textOf(statement));
    try {
      const message = [...BEGIN.write, ...texts, 'COMMIT', ...(asksTime ? [NOW] : [])];
      const results = (await this.#query(message.join('; '))) as unknown[];
      if (asksTime) this.#learnTime(results.at(-1));
      return results.slice(BEGIN.write.length, BEGIN.write.length + texts.length);
    } catch (error) {
      if (findDriverErrorCode(error) !== NOT_WRITTEN && !isDuplicateKey(error)) throw error;
      return undefined;
    }
  }

  #learnTime(rows: unknown): void {
    const [row] = rows as { now: number }[];
    this.#now = row?.now ?? 0;
    this.options.time.learn(this.#now);
  }

  async rollback(): Promise<void> {
    this.#pendingBegin = [];
    await this.#query('ROLLBACK');
  }

  release(): void {
    if (this.#isGone) return;
    // The pool has dropped it without closing it.
    if (this.#isBroken) {
      this.discard();
      return;
    }
    this.#isGone = true;
    if (this.#hasAnswer) this.options.onAnswered();
    this.connection.release();
    this.connection.off('error', this.#markBroken);
  }

  discard(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.connection.destroy();
    this.connection.stream?.destroy();
  }

  readonly #markBroken = (): void => {
    this.#isBroken = true;
  };

  #textOf({ text, values }: Sql): string {
    return this.connection.format(text, [...values]);
  }

  /** Sends the pending BEGIN first. It reads the time last, because a statement may wait for a lock. */
  async #run(texts: readonly string[], { isTimeNeeded = false } = {}): Promise<unknown[]> {
    const { settings, withTime, physical, onBegun } = this.options;
    const isNode = await isGaleraNode(physical, (query) => this.#query(query));
    const begins = this.#pendingBegin.length > 0;
    const first = [
      ...(begins && settings ? [...settings, ...(isNode ? GALERA_SETTINGS : [])] : []),
      ...this.#pendingBegin,
    ];
    this.#pendingBegin = [];
    const asksTime = withTime && (isTimeNeeded || begins);
    const results = await this.#send([...first, ...texts, ...(asksTime ? [NOW] : [])], !isNode);
    if (begins) onBegun();
    if (asksTime) this.#learnTime(results.at(-1));
    return results.slice(first.length, first.length + texts.length);
  }

  /** Sends the statements in one message if it may and the connection allows, else one by one until one fails. */
  async #send(texts: readonly string[], mayJoin: boolean): Promise<unknown[]> {
    if (mayJoin && this.connection.config.multipleStatements && texts.length > 1) {
      return (await this.#query(texts.join('; '))) as unknown[];
    }
    const results: unknown[] = [];
    for (const text of texts) results.push(await this.#query(text));
    return results;
  }

  async #query(text: string): Promise<unknown> {
    await refuseLongMessage(this.options.physical, text, (query) => this.#ask(query));
    return this.#ask(text);
  }

  #ask(text: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.connection.query({ sql: text, typeCast }, (error, result) => {
        this.#hasAnswer = true;
        if (error) reject(error);
        else resolve(result);
      });
    });
  }
}
