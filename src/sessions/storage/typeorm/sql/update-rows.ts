import { typesOf, unnest } from './postgres-arrays.js';
import { joinSql, Sql, sql, sqlList, type SqlValue } from './sql.js';

/** New values for several rows of a table. */
export interface RowUpdates {
  /** The column that identifies a row. */
  readonly key: string;
  /** The columns to set. */
  readonly columns: readonly string[];
  /** Of each row the value of the key, then those of the columns. */
  readonly rows: readonly (readonly SqlValue[])[];
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

export function updateRowsOfPostgres(table: Sql, { key, columns, rows }: RowUpdates): Sql {
  const names = new Sql([key, ...columns].join(', '));
  const sets = new Sql(columns.map((name) => `${name} = v.${name}`).join(', '));
  const on = new Sql(`s.${key} = v.${key}`);
  return sql`UPDATE ${table} AS s SET ${sets} FROM ${unnest(typesOf(rows), rows)} AS v(${names}) WHERE ${on}`;
}
