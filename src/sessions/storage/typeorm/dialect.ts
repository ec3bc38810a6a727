import type { Sql } from './sql.js';

/** The types of columns, as a database calls them. */
export interface ColumnTypes {
  /** A generated number, and what refers to one. */
  readonly key: string;
  /** A whole number that stays small. */
  readonly count: string;
  /** A time, or a sum that may grow large. */
  readonly number: string;
  /** Text of at most so many bytes that compares byte for byte. */
  readonly exact: (bytes: number) => { readonly type: string; readonly length?: string };
  /** Text of any length that is only stored. */
  readonly text: string;
  /** Character set and collation, where a type does not already say how its text compares. */
  readonly exactCollation?: { readonly charset?: string; readonly collation: string };
  readonly textCollation?: { readonly charset?: string; readonly collation: string };
}

/** What one kind of database says differently from the others. Everything else is written once. */
export interface Dialect {
  readonly name: 'sqlite' | 'mysql' | 'postgres';
  readonly columnTypes: ColumnTypes;
  /** Whether an index may leave rows out. */
  readonly hasPartialIndexes: boolean;
  /** Whether rows are locked, or a transaction that writes has everything to itself. */
  readonly locksRows: boolean;
  /**
   * After a table of a SELECT that locks: its rows are found by this index. Walking over a small table instead would lock,
   * for a moment, what others ask for.
   */
  readonly foundBy: (index: Sql) => Sql;
  /** At the end of a SELECT: locks the rows of this alias for the rest of the transaction, in this order. */
  readonly lock: (alias: string, order?: Sql) => Sql;
  /** The same, but leaves out what somebody else has locked. */
  readonly lockFree: (alias: string) => Sql;
  /** At the end of an INSERT: where a row of this key exists, it gets the new value instead. */
  readonly orNewValue: (key: Sql) => Sql;
  /** At the end of an INSERT into this table: where a row of this name exists, the later time stands. */
  readonly orLaterTime: (table: Sql) => Sql;
}
