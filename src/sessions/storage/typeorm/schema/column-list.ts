import { Sql } from '../sql/sql.js';
import { columnType } from './column-types.js';
import { type Table, listColumns } from './table.js';

/** The columns of a table in their order, for statements that insert rows. */
export interface ColumnList {
  readonly names: Sql;
  /** In PostgreSQL. */
  readonly types: readonly string[];
}

export function columnList(table: Table): ColumnList {
  const columns = listColumns(table);
  return {
    names: new Sql(columns.map(([name]) => name).join(', ')),
    types: columns.map(([, column]) => columnType('postgres', column).type),
  };
}
