import { QueryFailedError, type QueryRunner } from 'typeorm';
import { BoundedMap } from '../../../../domain/process/bounded-map.js';
import type { Sql } from '../../sql/sql.js';
import type { StatementRunner } from '../../sql/transaction.js';
import type { LentConnection } from '../app-transactions.js';

/** The part of the driver's connection that is used here. */
export interface DriverConnection {
  readonly inTransaction: boolean;
  exec(text: string): unknown;
  prepare(text: string): DriverStatement;
}

interface DriverStatement {
  /** Whether it returns rows. */
  readonly reader: boolean;
  all(...values: unknown[]): unknown[];
  run(...values: unknown[]): { readonly changes: number; readonly lastInsertRowid: number | bigint };
}

/** Not prepared, because a prepared statement that fails on a lock stays open and blocks later commits. */
export function execute(driver: DriverConnection, text: string): void {
  try {
    driver.exec(text);
  } catch (error) {
    throw new QueryFailedError(text, undefined, error as Error);
  }
}

/** The connection in a transaction of the app. SQLite has no clock of its own. */
export async function lentSqliteConnection(runner: QueryRunner): Promise<LentConnection> {
  const statements = new SqliteStatements((await runner.connect()) as DriverConnection);
  return Object.assign(statements, { now: Date.now, release: () => undefined });
}

/**
 * Runs prepared statements on the driver's connection. TypeORM's query runner, which opened it, would take as long again as
 * a small statement.
 */
export class SqliteStatements implements StatementRunner {
  readonly #prepared: PreparedStatements;

  constructor(driver: DriverConnection) {
    this.#prepared = preparedOn(driver);
  }

  async rows<Row>(statement: Sql): Promise<Row[]> {
    return this.#prepared.rows(statement) as Row[];
  }

  /** The transaction locked the file before it read the time. */
  lockedRows<Row>(statement: Sql): Promise<Row[]> {
    return this.rows(statement);
  }

  async change(statement: Sql): Promise<number> {
    return this.#prepared.run(statement).changes;
  }

  async insert(statement: Sql): Promise<number> {
    const { changes, lastInsertRowid } = this.#prepared.run(statement);
    return changes === 0 ? 0 : Number(lastInsertRowid);
  }

  async changeAll(statements: readonly Sql[]): Promise<void> {
    for (const statement of statements) this.#prepared.run(statement);
  }
}

/** Of all transactions on one connection. */
const byConnection = new WeakMap<DriverConnection, PreparedStatements>();

function preparedOn(driver: DriverConnection): PreparedStatements {
  let prepared = byConnection.get(driver);
  if (!prepared) {
    prepared = new PreparedStatements(driver);
    byConnection.set(driver, prepared);
  }
  return prepared;
}

/** Twice what the store has, except for those whose text depends on the number of their values. */
const MAX_PREPARED = 400;

/** The prepared statements of a connection; those that were not used for longest give way. */
class PreparedStatements {
  readonly #statements = new BoundedMap<DriverStatement>(MAX_PREPARED);

  constructor(private readonly driver: DriverConnection) {}

  rows({ text, values }: Sql): unknown[] {
    return this.#use(text, (statement) => statement.all(...values));
  }

  run({ text, values }: Sql): { readonly changes: number; readonly lastInsertRowid: number | bigint } {
    return this.#use(text, (statement) => statement.run(...values));
  }

  #use<Result>(text: string, use: (statement: DriverStatement) => Result): Result {
    try {
      const statement = this.#statements.get(text) ?? this.driver.prepare(text);
      const result = use(statement);
      this.#statements.set(text, statement);
      return result;
    } catch (error) {
      // It is prepared again, because it may stay open.
      this.#statements.delete(text);
      throw new QueryFailedError(text, undefined, error as Error);
    }
  }
}
