import { joinSql, Sql, sql, sqlList } from './sql.js';

/** New numbers for several rows of a table. */
export interface RowUpdates {
  /** The column that identifies a row. */
  readonly key: string;
  /** The columns to set. */
  readonly columns: readonly string[];
  /** Of each row the value of the key, then those of the columns. */
  readonly rows: readonly (readonly number[])[];
}

/** MySQL and MariaDB join in this order, so that they neither scan nor lock other rows. */
export function updateRowsOfMysql(table: Sql, { key, columns, rows }: RowUpdates): Sql {
  const names = [key, ...columns];
  const selects = rows.map((values, index) =>
    index === 0
      ? sql`SELECT ${joinSql(
          values.map((value, place) => sql`${value} AS ${new Sql(names[place] ?? '')}`),
          ', ',
        )}`
      : sql`SELECT ${sqlList(values)}`,
  );
  const sets = new Sql(columns.map((name) => `s.${name} = v.${name}`).join(', '));
  const on = new Sql(`s.${key} = v.${key}`);
  return sql`UPDATE (${joinSql(selects, ' UNION ALL ')}) v STRAIGHT_JOIN ${table} s ON ${on} SET ${sets}`;
}

/** One array for each column: the text does not depend on the number of rows, so that it can be prepared. */
export function updateRowsOfPostgres(table: Sql, { key, columns, rows }: RowUpdates): Sql {
  const names = [key, ...columns];
  const arrays = names.map((_name, place) => `{${rows.map((values) => values[place]).join(',')}}`);
  const lists = joinSql(
    arrays.map((array) => sql`CAST(${array} AS bigint[])`),
    ', ',
  );
  const sets = new Sql(columns.map((name) => `${name} = v.${name}`).join(', '));
  const on = new Sql(`s.${key} = v.${key}`);
  return sql`UPDATE ${table} AS s SET ${sets} FROM unnest(${lists}) AS v(${new Sql(names.join(', '))}) WHERE ${on}`;
}
