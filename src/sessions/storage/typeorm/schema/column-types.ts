import type { Dialect } from '../sql/dialect.js';
import type { Column, ColumnKind } from './table.js';

/** The type of a column in a database. */
export interface ColumnType {
  readonly type: string;
  readonly length?: string;
  /** Character set and collation, unless the type determines them. */
  readonly charset?: string;
  readonly collation?: string;
}

type Types = Readonly<Record<ColumnKind, ColumnType>>;

/** SQLite compares text byte by byte. */
const sqlite: Types = {
  generatedKey: { type: 'integer' },
  key: { type: 'integer' },
  count: { type: 'integer' },
  number: { type: 'integer' },
  exact: { type: 'text' },
  text: { type: 'text' },
};

/**
 * The collations of MySQL and MariaDB treat some different texts as equal (trailing spaces, for example), so columns
 * that are compared hold bytes.
 */
const mysql: Types = {
  generatedKey: { type: 'bigint' },
  key: { type: 'bigint' },
  count: { type: 'int' },
  number: { type: 'bigint' },
  exact: { type: 'varbinary' },
  text: { type: 'longtext', charset: 'utf8mb4', collation: 'utf8mb4_bin' },
};

/** Ids have the collation "C", which compares bytes independent of the database's collation. */
const postgres: Types = {
  generatedKey: { type: 'bigint' },
  key: { type: 'bigint' },
  count: { type: 'integer' },
  number: { type: 'bigint' },
  exact: { type: 'text', collation: 'C' },
  text: { type: 'text' },
};

const TYPES: Readonly<Record<Dialect['name'], Types>> = { sqlite, mysql, postgres };

export function columnType(dialect: Dialect['name'], { kind, bytes }: Column): ColumnType {
  const found = TYPES[dialect][kind];
  return found.type === 'varbinary' ? { ...found, length: String(bytes) } : found;
}
