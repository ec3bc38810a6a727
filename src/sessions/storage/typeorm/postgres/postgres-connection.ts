import { StoreUnavailableError } from '../../../domain/errors.js';
import type { ConnectionPool, PooledConnection } from '../servers/pooled-connection.js';
import type { Sql } from '../sql.js';
import type { TransactionMode } from '../sql-transaction.js';
import { allOf } from './all-of.js';
import { columnTypes, numbered } from './driver-text.js';
import { preparedName } from './prepared-names.js';

interface QueryResult {
  readonly command: string;
  readonly rows: readonly unknown[];
  readonly rowCount: number | null;
}

/** What is used of a client of pg. */
interface DriverClient {
  /** Whether statements are sent without waiting for the answers to earlier ones. */
  readonly pipeline?: boolean;
  readonly connection?: { readonly stream?: { destroy(): void } };
  query(options: { text: string; name?: string; values?: unknown[]; types: typeof columnTypes }): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
}

type Release = (error?: boolean) => void;

/** What is used of TypeORM's driver. */
export interface PostgresDriver {
  obtainMasterConnection(): Promise<unknown>;
}

const NOW = 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now';

/** The time at which a statement got each of its rows, after the wait for its lock; a list of columns knows only that before. */
const withTimes = (text: string): string => `
  WITH locked AS MATERIALIZED (${text})
  SELECT *, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS locked_at FROM locked`;

const BEGIN: Readonly<Record<TransactionMode, string>> = {
  // What is read in several statements has to be of one moment.
  read: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
  write: 'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE',
};

export interface PostgresPoolOptions {
  /** Whether to ask for the time. */
  readonly withTime: boolean;
  /** Whether connections are ours from end to end, and may remember plans. */
  readonly isPreparing: boolean;
}

export class PostgresPool implements ConnectionPool {
  constructor(
    private readonly driver: PostgresDriver,
    private readonly options: PostgresPoolOptions,
  ) {}

  async acquire(): Promise<PooledConnection> {
    const [client, release] = (await this.driver.obtainMasterConnection()) as [DriverClient, Release];
    return new PostgresConnection(client, release, this.options);
  }
}

/** A client of pg. Where it pipelines, statements that do not depend on each other share a round trip. */
class PostgresConnection implements PooledConnection {
  #isGone = false;
  /** How a transaction begins that has not begun yet. */
  #opening: string | undefined;
  #now = 0;

  constructor(
    private readonly client: DriverClient,
    private readonly giveBack: Release,
    private readonly options: PostgresPoolOptions,
  ) {
    client.on('error', ignore);
  }

  begin(mode: TransactionMode): void {
    this.#opening = this.options.withTime ? `${BEGIN[mode]}; ${NOW}` : BEGIN[mode];
  }

  async begun(): Promise<void> {
    const opening = this.#opening;
    if (opening === undefined) return;
    this.#opening = undefined;
    const answer = await this.client.query({ text: opening, types: columnTypes });
    if (!this.options.withTime) return;
    // A pooler whose server went away answers half of it.
    if (!Array.isArray(answer)) throw new Error('The connection broke off in the middle of an answer');
    const [, time] = answer as [QueryResult, QueryResult];
    const [row] = time.rows as { now: number }[];
    this.#now = row?.now ?? 0;
  }

  now(): number {
    return this.#now;
  }

  async rows<Row>({ text, values }: Sql): Promise<Row[]> {
    return (await this.#query(text, values)).rows as Row[];
  }

  async lockedRows<Row>({ text, values }: Sql): Promise<Row[]> {
    if (!this.options.withTime) return this.rows({ text, values });
    const { rows } = await this.#query(withTimes(text), values);
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
    await this.#inTurn(statements);
  }

  async commit(statements: readonly Sql[], announcement?: Sql): Promise<void> {
    const committing = this.#inTurn([...statements, COMMIT]);
    if (this.client.pipeline) void this.#announce(announcement);
    const results = await committing;
    // A transaction in which something failed is rolled back, whatever was asked for.
    if (results.at(-1)?.command !== 'COMMIT')
      throw new StoreUnavailableError('The database rolled a transaction back.', false);
    if (!this.client.pipeline) await this.#announce(announcement);
  }

  async rollback(): Promise<void> {
    this.#opening = undefined;
    await this.#query('ROLLBACK');
  }

  release(): void {
    this.#end(() => this.giveBack());
  }

  discard(): void {
    this.#end(() => {
      this.giveBack(true);
      this.client.connection?.stream?.destroy();
    });
  }

  #end(how: () => void): void {
    if (this.#isGone) return;
    this.#isGone = true;
    how();
    // Those of the pool itself are in place from here on.
    this.client.off('error', ignore);
  }

  /** A hint that gets lost costs time only. */
  async #announce(announcement: Sql | undefined): Promise<void> {
    if (announcement) await this.#query(announcement.text, announcement.values).catch(() => undefined);
  }

  /** Where one fails, the database refuses those after it; so all of them may be on their way at once. */
  async #inTurn(statements: readonly Sql[]): Promise<QueryResult[]> {
    if (this.client.pipeline) return allOf(statements.map(({ text, values }) => this.#query(text, values)));
    const results: QueryResult[] = [];
    for (const { text, values } of statements) results.push(await this.#query(text, values));
    return results;
  }

  /** After the beginning of the transaction, where that is still to come. */
  async #query(text: string, values: readonly unknown[] = []): Promise<QueryResult> {
    if (this.#opening === undefined) return this.#send(text, values);
    if (this.client.pipeline) {
      const [, result] = await allOf([this.begun(), this.#send(text, values)] as const);
      return result;
    }
    await this.begun();
    return this.#send(text, values);
  }

  async #send(text: string, values: readonly unknown[]): Promise<QueryResult> {
    const numberedText = numbered(text);
    const name = this.options.isPreparing ? preparedName(numberedText, values.length) : undefined;
    return (await this.client.query({
      text: numberedText,
      ...(name !== undefined && { name }),
      ...(values.length > 0 && { values: [...values] }),
      types: columnTypes,
    })) as QueryResult;
  }
}

const COMMIT: Sql = { text: 'COMMIT', values: [] };

/** A client that breaks says so to the statement under way as well; without a listener it would end the process. */
function ignore(): void {}
