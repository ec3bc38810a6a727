import type { DataSourceOptions } from 'typeorm';
import { ConfigurationError } from '../../../config/configuration-error.js';
import type { Dialect } from './dialect.js';
import { mysqlDialect } from './mysql/mysql-dialect.js';
import { postgresDialect } from './postgres/postgres-dialect.js';
import { sqliteDialect } from './sqlite/sqlite-dialect.js';

/** The types of DataSource that can hold sessions. */
export type SupportedType = 'better-sqlite3' | 'mysql' | 'mariadb' | 'postgres';

const dialects: Readonly<Record<SupportedType, Dialect>> = {
  'better-sqlite3': sqliteDialect,
  mysql: mysqlDialect,
  mariadb: mysqlDialect,
  postgres: postgresDialect,
};

/** What the kind of database behind a DataSource says differently from the others. */
export function dialectOf(type: DataSourceOptions['type']): Dialect {
  const dialect = (dialects as Partial<Record<string, Dialect>>)[type];
  if (dialect) return dialect;
  const known = Object.keys(dialects).join(', ');
  throw new ConfigurationError([`Sessions cannot be kept in a database of type ${type}, only of ${known}.`]);
}
