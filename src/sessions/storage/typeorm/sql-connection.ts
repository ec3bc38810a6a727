import type { Sql } from './sql.js';

/** What a statement that changes rows did. */
export interface Changed {
  readonly rows: number;
  /** The generated key, after an insert into a table that has one. */
  readonly insertedPk: number;
}

/** Runs statements, inside a transaction that somebody else began and ends. */
export interface SqlConnection {
  rows<Row>(statement: Sql): Promise<Row[]>;
  change(statement: Sql): Promise<Changed>;
}
