import type { Dialect } from '../sql/dialect.js';
import { columnType } from './column-types.js';
import { type Column, type Table, listColumns, indexesOf } from './table.js';

/** How names are written in statements. */
export interface Naming {
  readonly dialect: Pick<Dialect, 'name' | 'hasPartialIndexes'>;
  /** Quotes a name. */
  readonly escape: (name: string) => string;
  readonly prefix: string;
  /** Of PostgreSQL. */
  readonly schema?: string | undefined;
}

/**
 * The statements that create a table. In MySQL it is one, which leaves a table alone that is there: it creates tables outside of
 * transactions, so that an interrupted migration leaves some, each of them whole.
 */
export function createTable(naming: Naming, table: Table): string[] {
  const { dialect } = naming;
  const lines = [
    ...listColumns(table).map(([name, column]) => `${naming.escape(name)} ${definition(naming, column)}`),
    ...(isGenerated(dialect.name, table) ? [] : [`PRIMARY KEY (${list(naming, table.primaryKey)})`]),
    ...(table.parent === undefined ? [] : [foreignKey(naming, table, table.parent)]),
  ];
  const path = formatTablePath(naming, table.name);
  const indexes = indexesOf(table, dialect.hasPartialIndexes).map(({ name, columns, isUnique, where }) => ({
    kind: isUnique ? 'UNIQUE INDEX' : 'INDEX',
    name: naming.escape(naming.prefix + name),
    columns: list(naming, columns),
    rest: where === undefined ? '' : ` WHERE ${where}`,
  }));
  if (dialect.name === 'mysql') {
    lines.push(...indexes.map(({ kind, name, columns }) => `${kind} ${name} (${columns})`));
    return [`CREATE TABLE IF NOT EXISTS ${path} (${lines.join(', ')}) ENGINE=InnoDB`];
  }
  return [
    `CREATE TABLE ${path} (${lines.join(', ')})${formatStorageClause(naming, table)}`,
    ...indexes.map(({ kind, name, columns, rest }) => `CREATE ${kind} ${name} ON ${path} (${columns})${rest}`),
  ];
}

function formatStorageClause({ dialect }: Naming, { fillFactor }: Table): string {
  return dialect.name === 'postgres' && fillFactor !== undefined ? ` WITH (fillfactor = ${fillFactor})` : '';
}

export function dropTable(naming: Naming, { name }: Table): string {
  return `DROP TABLE IF EXISTS ${formatTablePath(naming, name)}`;
}

/** The constraint that deletes rows with their parent. */
export function foreignKeyName({ name, primaryKey: [owner = ''] }: Table): string {
  return `${name}_${owner.replace(/_pk$/, '')}`;
}

function foreignKey(naming: Naming, table: Table, parent: string): string {
  const { escape, prefix } = naming;
  const [owner = ''] = table.primaryKey;
  return (
    `CONSTRAINT ${escape(prefix + foreignKeyName(table))} FOREIGN KEY (${escape(owner)}) ` +
    `REFERENCES ${formatTablePath(naming, parent)} (${escape('pk')}) ON DELETE CASCADE ON UPDATE NO ACTION`
  );
}

/** In SQLite, only a column that is a primary key by itself generates keys. */
function isGenerated(dialect: Dialect['name'], { columns, primaryKey: [first = ''] }: Table): boolean {
  return dialect === 'sqlite' && columns[first]?.kind === 'generatedKey';
}

const GENERATED: Readonly<Record<Dialect['name'], string>> = {
  // No key is given again, not even the last one.
  sqlite: 'integer PRIMARY KEY AUTOINCREMENT NOT NULL',
  mysql: 'bigint NOT NULL AUTO_INCREMENT',
  postgres: 'bigserial NOT NULL',
};

function definition({ dialect: { name: dialect }, escape }: Naming, column: Column): string {
  if (column.kind === 'generatedKey') return GENERATED[dialect];
  const { type, length, charset, collation } = columnType(dialect, column);
  return [
    length === undefined ? type : `${type}(${length})`,
    ...(charset === undefined ? [] : [`CHARACTER SET ${charset}`]),
    ...(collation === undefined ? [] : [`COLLATE ${escape(collation)}`]),
    column.isNullable ? 'NULL' : 'NOT NULL',
  ].join(' ');
}

function list({ escape }: Naming, columns: readonly string[]): string {
  return columns.map(escape).join(', ');
}

/** A table with its prefix and its schema, quoted. */
export function formatTablePath({ escape, prefix, schema }: Naming, name: string): string {
  return [schema, prefix + name].flatMap((part) => (part ? [escape(part)] : [])).join('.');
}
