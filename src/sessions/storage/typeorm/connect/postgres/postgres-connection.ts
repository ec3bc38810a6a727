import { StoreUnavailableError } from '../../../../domain/errors/errors.js';
import type { CreatedRows, DirectCreate, MessageAnswer } from '../../append/direct-writes.js';
import { POSTGRES_NOW } from '../../sql/server-time.js';
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
  ignoreError,
  type PooledConnection,
} from '../connection-pool.js';
import { namingStandby } from './standby.js';
import { awaitAll, columnTypes, MAX_DIRECT_VALUES, numberedStatement } from './numbered-statements.js';
import { directCreateOfPostgres, directWriteOfPostgres, messageAnswerOf } from './direct-write.js';

interface QueryResult {
  readonly command: string;
  readonly rows: readonly unknown[];
  readonly rowCount: number | null;
}

/** A row of `directCreateOfPostgres`. */
interface CreatedRow extends StateRow {
  readonly pk: number;
  readonly now: number;
}

/** The part of a pg client that is used here. */
export interface DriverClient {
  /** Whether it sends statements without waiting for earlier answers. */
  readonly pipeline?: boolean;
  readonly connection?: { readonly stream?: DriverStream };
  query(options: { text: string; name?: string; values?: unknown[]; types: typeof columnTypes }): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
}

type Release = (error?: boolean) => void;

/** The part of TypeORM's driver that is used here: its pool. Undefined when closed. */
export interface PostgresDriver {
  readonly master?: {
    connect(done: (error: Error | undefined, client: DriverClient, release: Release) => void): void;
  };
}

const NOW = `SELECT ${POSTGRES_NOW} AS now`;

/** Adds the time when each row was locked. In the list of columns, it would be the time before the wait for the lock. */
const withLockTimes = (text: string): string => `
  WITH locked AS MATERIALIZED (${text})
  SELECT *, ${POSTGRES_NOW} AS locked_at FROM locked`;

const BEGIN: Readonly<Record<TransactionMode, string>> = {
  // All statements of a read see one snapshot.
  read: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
  write: 'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE',
};

interface PostgresPoolOptions {
  /** Whether to read the server's time. */
  readonly withTime: boolean;
  readonly usesPreparedStatements: boolean;
}

export class PostgresPool implements ConnectionPool {
  readonly #suspects = new SuspectConnections();
  readonly time = new ServerTime();

  constructor(
    private readonly driver: PostgresDriver,
    private readonly options: PostgresPoolOptions,
  ) {}

  async acquire(): Promise<PooledConnection> {
    for (;;) {
      const { client, connection } = await this.#getConnection();
      if (!this.#suspects.isSuspect(client)) return connection;
      connection.discard();
    }
  }

  suspect(since: number): void {
    this.#suspects.suspect(since);
  }

  /** Uses the pool directly, because it removes its error listener just before it hands out a client. */
  #getConnection(): Promise<{ client: DriverClient; connection: PostgresConnection }> {
    const { master } = this.driver;
    if (!master) return Promise.reject(new Error('The pool of connections is closed'));
    return new Promise((resolve, reject) => {
      master.connect((error, client, release) => {
        if (error) {
          reject(error);
          return;
        }
        const options = {
          ...this.options,
          idleMs: this.#suspects.idleMsOf(client),
          hasJustAnswered: this.#suspects.hasJustAnswered(client),
          time: this.time,
          onAnswered: () => this.#suspects.recordAnswer(client),
        };
        resolve({ client, connection: new PostgresConnection(client, release, options) });
      });
    });
  }
}

/** A client in a transaction of the app. Releasing it only ends the use by the store. */
export function lentPostgresConnection(client: DriverClient, withTime: boolean): PooledConnection {
  const time = new ServerTime();
  const unused = { usesPreparedStatements: false, idleMs: 0, hasJustAnswered: false, time, onAnswered: ignoreError };
  const options = { withTime, ...unused };
  return new PostgresConnection(client, ignoreError, options);
}

interface PostgresConnectionOptions extends PostgresPoolOptions {
  readonly idleMs: number;
  readonly hasJustAnswered: boolean;
  readonly time: ServerTime;
  readonly onAnswered: () => void;
}

/** A pg client. With `pipeline`, independent statements share a round trip. */
class PostgresConnection implements PooledConnection {
  readonly idleMs: number;
  readonly #takenAt = performance.now();
  readonly #initialBytes: number | undefined;
  #hasAnswer = false;
  #isGone = false;
  /** The BEGIN that has not been sent yet. */
  #pendingBegin: string | undefined;
  #now = 0;
  #hasBegun = false;
  /** Whether nothing of a read was sent yet. */
  #isUnbegunRead = false;

  constructor(
    private readonly client: DriverClient,
    private readonly giveBack: Release,
    private readonly options: PostgresConnectionOptions,
  ) {
    this.idleMs = options.idleMs;
    client.on('error', ignoreError);
    this.#initialBytes = client.connection?.stream?.bytesRead;
  }

  get silentSince(): number | undefined {
    const isSilent = !this.#hasAnswer && this.client.connection?.stream?.bytesRead === this.#initialBytes;
    return isSilent ? this.#takenAt : undefined;
  }

  begin(mode: TransactionMode): void {
    this.#hasBegun = true;
    this.#isUnbegunRead = mode === 'read';
    this.#pendingBegin = this.options.withTime ? `${BEGIN[mode]}; ${NOW}` : BEGIN[mode];
  }

  async flushBegin(): Promise<void> {
    const pendingBegin = this.#pendingBegin;
    if (pendingBegin === undefined) return;
    this.#pendingBegin = undefined;
    this.#isUnbegunRead = false;
    const answer = await namingStandby(this.client.query({ text: pendingBegin, types: columnTypes }));
    this.#hasAnswer = true;
    if (!this.options.withTime) return;
    // A pooler that lost its server returns only one of the two results.
    if (!Array.isArray(answer)) throw new Error('The connection was lost in the middle of an answer');
    const [, time] = answer as [QueryResult, QueryResult];
    this.#learnTime(time);
  }

  #learnTime({ rows }: QueryResult): void {
    const [row] = rows as { now: number }[];
    this.#now = row?.now ?? 0;
    this.options.time.learn(this.#now);
  }

  now(): number {
    return this.#now;
  }

  async rows<Row>({ text, values }: Sql): Promise<Row[]> {
    return (await this.#query(text, values)).rows as Row[];
  }

  async lockedRows<Row>({ text, values }: Sql): Promise<Row[]> {
    if (!this.options.withTime) return this.rows({ text, values });
    const { rows } = await this.#query(withLockTimes(text), values);
    this.#now = Math.max(this.#now, ...(rows as { locked_at: number }[]).map(({ locked_at: time }) => time));
    return rows as Row[];
  }

  async change({ text, values }: Sql): Promise<number> {
    return (await this.#query(text, values)).rowCount ?? 0;
  }

  async insert({ text, values }: Sql, key: string): Promise<number> {
    const { rows } = await this.#query(`${text} RETURNING ${key} AS generated`, values);
    const [row] = rows as { generated: number }[];
    return row?.generated ?? 0;
  }

  async changeAll(statements: readonly Sql[]): Promise<void> {
    await this.#sendTogether(() => this.#runAll(statements));
  }

  async commit({ statements, queries, notification }: CommitMessage): Promise<readonly unknown[][]> {
    const [query, ...others] = queries;
    if (query && others.length === 0 && this.#isUnbegunRead) return [await this.#readAlone(query)];
    const results = await this.#sendTogether(() => {
      const committing = this.#runAll([...statements, ...queries, COMMIT]);
      if (this.client.pipeline) void this.#notify(notification);
      return committing;
    });
    // PostgreSQL answers COMMIT of a failed transaction with ROLLBACK.
    if (results.at(-1)?.command !== 'COMMIT')
      throw new StoreUnavailableError('The database rolled the transaction back.', false);
    if (!this.client.pipeline) await this.#notify(notification);
    return results.slice(statements.length, -1).map(({ rows }) => [...rows]);
  }

  /** One query sees one snapshot by itself, and needs no transaction. */
  async #readAlone({ text, values }: Sql): Promise<unknown[]> {
    this.#isUnbegunRead = false;
    this.#hasBegun = false;
    this.#pendingBegin = undefined;
    const [found, time] = await this.#sendTogether(() =>
      this.#runAll([{ text, values }, ...(this.options.withTime ? [{ text: NOW, values: [] }] : [])]),
    );
    if (time) this.#learnTime(time);
    return [...(found?.rows ?? [])];
  }

  get canWriteDirectly(): boolean {
    return this.options.hasJustAnswered;
  }

  async writeDirectly({ tables, message, notification }: DirectMessage): Promise<MessageAnswer> {
    const { text, values } = directWriteOfPostgres(tables, message);
    // A notification of a write that is refused makes watchers read, and find nothing new.
    const answer = await this.#sendTogether(() => {
      const writing = this.#send(text, values, MAX_DIRECT_VALUES);
      if (this.client.pipeline) void this.#notify(notification);
      return writing;
    });
    const { now, result } = messageAnswerOf(answer.rows);
    if (now !== undefined) this.options.time.learn(now);
    if (result === 'written' && !this.client.pipeline) void this.#notify(notification);
    return result;
  }

  async createDirectly(tables: Tables, session: DirectCreate): Promise<CreatedRows | undefined> {
    const { text, values } = directCreateOfPostgres(tables, session);
    const rows = (await this.#send(text, values, MAX_DIRECT_VALUES)).rows as CreatedRow[];
    const added = rows.find(({ pk }) => pk !== null);
    if (!added) return undefined;
    this.options.time.learn(added.now);
    return { pk: added.pk, shared: rows.filter((row) => row !== added) };
  }

  async rollback(): Promise<void> {
    if (!this.#hasBegun) return;
    this.#pendingBegin = undefined;
    await this.#query('ROLLBACK');
  }

  release(): void {
    if (this.#hasAnswer) this.options.onAnswered();
    this.#leavePool(() => this.giveBack());
  }

  discard(): void {
    this.#leavePool(() => {
      this.giveBack(true);
      this.client.connection?.stream?.destroy();
    });
  }

  #leavePool(how: () => void): void {
    if (this.#isGone) return;
    this.#isGone = true;
    how();
    // From here on the pool listens for errors.
    this.client.off('error', ignoreError);
  }

  /** A lost notification only delays a watcher. */
  async #notify(notification: Sql | undefined): Promise<void> {
    if (notification) await this.#query(notification.text, notification.values).catch(() => undefined);
  }

  /** Sends what `send` sends immediately with one write. */
  #sendTogether<Result>(send: () => Promise<Result>): Promise<Result> {
    const stream = this.client.connection?.stream;
    stream?.cork?.();
    try {
      return send();
    } finally {
      stream?.uncork?.();
    }
  }

  /** After a failure the database refuses the remaining statements, so all may be sent at once. */
  async #runAll(statements: readonly Sql[]): Promise<QueryResult[]> {
    if (this.client.pipeline) return awaitAll(statements.map(({ text, values }) => this.#query(text, values)));
    const results: QueryResult[] = [];
    for (const { text, values } of statements) results.push(await this.#query(text, values));
    return results;
  }

  /** Sends the pending BEGIN first. */
  async #query(text: string, values: readonly unknown[] = []): Promise<QueryResult> {
    if (this.#pendingBegin === undefined) return this.#send(text, values);
    if (this.client.pipeline) {
      const [, result] = await this.#sendTogether(() =>
        awaitAll([this.flushBegin(), this.#send(text, values)] as const),
      );
      return result;
    }
    await this.flushBegin();
    return this.#send(text, values);
  }

  async #send(text: string, values: readonly unknown[], maxPrepared?: number): Promise<QueryResult> {
    const { text: numberedText, name } = numberedStatement(text, values.length, maxPrepared);
    const answer = await this.client.query({
      text: numberedText,
      ...(name !== undefined && this.options.usesPreparedStatements && { name }),
      ...(values.length > 0 && { values: [...values] }),
      types: columnTypes,
    });
    this.#hasAnswer = true;
    return answer as QueryResult;
  }
}

const COMMIT: Sql = { text: 'COMMIT', values: [] };
