import type { DataSourceOptions } from 'typeorm';
import { ConfigurationError } from '../../../../config/configuration-error.js';
import { MYSQL_NOW, POSTGRES_NOW } from './server-time.js';
import { joinSql, orderBy, NO_SQL, Sql, sql } from './sql.js';
import { type RowUpdates, updateRowsOfMysql, updateRowsOfPostgres } from './update-rows.js';

/** The differences in SQL between the databases. All other SQL is written once. */
export interface Dialect {
  readonly name: 'sqlite' | 'mysql' | 'postgres';
  /** The time of the server; missing if it is that of this machine. */
  readonly serverTime?: Sql;
  /** Whether an index can have a WHERE clause. */
  readonly hasPartialIndexes: boolean;
  /** Whether a session is read with one large statement. Otherwise several small ones cost less. */
  readonly readsAtOnce: boolean;
  /** `true`: row locks. `false`: one writer locks the whole database. */
  readonly locksRows: boolean;
  /** The size of text in bytes. */
  readonly bytesOf: (column: Sql) => Sql;
  /** One text with a line for each column; none of them is NULL. Drivers need less time for it than for many columns. */
  readonly lines: (columns: readonly Sql[]) => Sql;
  /** Follows a table in a locking SELECT. Without the hint, MySQL may scan a small table and lock unrelated rows. */
  readonly forceIndex: (index: Sql) => Sql;
  /** Ends a SELECT: locks the rows of this alias until the end of the transaction, in this order. */
  readonly lock: (alias: string, order?: Sql) => Sql;
  /** The same, but skips rows that another transaction has locked. */
  readonly lockSkipLocked: (alias: string) => Sql;
  /** Ends an INSERT: an existing row with this key gets the new values of these columns. */
  readonly onConflictSet: (key: Sql, columns: readonly string[]) => Sql;
  /** Ends an INSERT: the new numbers are added to those of an existing row with this key. */
  readonly onConflictAdd: (table: Sql, addition: Addition) => Sql;
  /** Updates several rows with one statement. Missing if a statement for each row costs less. */
  readonly updateRows?: (table: Sql, updates: RowUpdates) => Sql;
}

/** What to add to an existing row. */
interface Addition {
  readonly key: Sql;
  readonly columns: readonly string[];
  /** Columns that get the new value. */
  readonly replaced?: readonly string[];
}

function conflictAdd(table: Sql, { key, columns, replaced = [] }: Addition): Sql {
  const sets = [
    ...columns.map((name) => `${name} = ${table.text}.${name} + excluded.${name}`),
    ...replaced.map((name) => `${name} = excluded.${name}`),
  ];
  return sql`ON CONFLICT (${key}) DO UPDATE SET ${new Sql(sets.join(', '))}`;
}

function addOnDuplicate(_table: Sql, { columns, replaced = [] }: Addition): Sql {
  const sets = [
    ...columns.map((name) => `${name} = ${name} + VALUES(${name})`),
    ...replaced.map((name) => `${name} = VALUES(${name})`),
  ];
  return sql`ON DUPLICATE KEY UPDATE ${new Sql(sets.join(', '))}`;
}

function conflictSet(key: Sql, columns: readonly string[]): Sql {
  return sql`ON CONFLICT (${key}) DO UPDATE SET ${new Sql(columns.map((name) => `${name} = excluded.${name}`).join(', '))}`;
}

function octetLength(column: Sql): Sql {
  return sql`OCTET_LENGTH(${column})`;
}

function concatLines(columns: readonly Sql[]): Sql {
  return sql`CONCAT_WS('\n', ${joinSql(columns, ', ')})`;
}

/** A write transaction locks the whole file. */
export const sqliteDialect: Dialect = {
  name: 'sqlite',
  hasPartialIndexes: true,
  readsAtOnce: false,
  locksRows: false,
  // `OCTET_LENGTH` came with SQLite 3.43.
  bytesOf: (column) => sql`LENGTH(CAST(${column} AS BLOB))`,
  // `CONCAT_WS` came with SQLite 3.44. Many `||` take twice as long.
  lines: (columns) => sql`PRINTF('${new Sql(columns.map(() => '%s').join('\n'))}', ${joinSql(columns, ', ')})`,
  forceIndex: () => NO_SQL,
  lock: () => NO_SQL,
  lockSkipLocked: () => NO_SQL,
  onConflictSet: conflictSet,
  onConflictAdd: conflictAdd,
};

/** MySQL and MariaDB. */
export const mysqlDialect: Dialect = {
  name: 'mysql',
  serverTime: new Sql(MYSQL_NOW),
  hasPartialIndexes: false,
  readsAtOnce: false,
  locksRows: true,
  bytesOf: octetLength,
  lines: concatLines,
  forceIndex: (index) => sql`FORCE INDEX (${index})`,
  lock: (_alias, order) => sql`${orderBy(order)} FOR UPDATE`,
  lockSkipLocked: () => sql`FOR UPDATE SKIP LOCKED`,
  onConflictSet: (_key, columns) =>
    sql`ON DUPLICATE KEY UPDATE ${new Sql(columns.map((name) => `${name} = VALUES(${name})`).join(', '))}`,
  onConflictAdd: addOnDuplicate,
  updateRows: updateRowsOfMysql,
};

export const postgresDialect: Dialect = {
  name: 'postgres',
  serverTime: new Sql(POSTGRES_NOW),
  hasPartialIndexes: true,
  readsAtOnce: true,
  locksRows: true,
  bytesOf: octetLength,
  lines: concatLines,
  forceIndex: () => NO_SQL,
  lock: (alias, order) => sql`${orderBy(order)} FOR UPDATE OF ${new Sql(alias)}`,
  lockSkipLocked: (alias) => sql`FOR UPDATE OF ${new Sql(alias)} SKIP LOCKED`,
  onConflictSet: conflictSet,
  onConflictAdd: conflictAdd,
  updateRows: updateRowsOfPostgres,
};

/** The DataSource types that can store sessions. */
export type SupportedType = 'better-sqlite3' | 'mysql' | 'mariadb' | 'postgres';

const dialects: Readonly<Record<SupportedType, Dialect>> = {
  'better-sqlite3': sqliteDialect,
  mysql: mysqlDialect,
  mariadb: mysqlDialect,
  postgres: postgresDialect,
};

/** The dialect of a DataSource type. */
export function dialectOf(type: DataSourceOptions['type']): Dialect {
  const dialect = (dialects as Partial<Record<string, Dialect>>)[type];
  if (dialect) return dialect;
  const known = Object.keys(dialects).join(', ');
  throw new ConfigurationError([`Sessions cannot be stored in a database of type ${type}, only of ${known}.`]);
}
