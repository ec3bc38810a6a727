import { typesOf, unnest } from './postgres-arrays.js';
import { joinSql, Sql, sql, sqlList, type SqlValue } from './sql.js';

/** New values for several rows of a table. */
export interface RowUpdates {
  /** The columns to set. */
  readonly columns: readonly string[];
  /** Of each row the `pk`, then the values of the columns. */
  readonly rows: readonly (readonly SqlValue[])[];
}

/** MySQL and MariaDB join in this order, so that they neither scan nor lock other rows. */
export function updateRowsOfMysql(table: Sql, { columns, rows }: RowUpdates): Sql {
  const values = valuesOfMysql(['pk', ...columns], rows);
  const sets = new Sql(columns.map((name) => `s.${name} = v.${name}`).join(', '));
  return sql`UPDATE (${values}) v STRAIGHT_JOIN ${table} s ON s.pk = v.pk SET ${sets}`;
}

/** A subquery with these rows. */
export function valuesOfMysql(names: readonly string[], [first = [], ...others]: RowUpdates['rows']): Sql {
  const named = first.map((value, place) => sql`${value} AS ${new Sql(names[place] ?? '')}`);
  const selects = [joinSql(named, ', '), ...others.map(sqlList)];
  return joinSql(
    selects.map((values) => sql`SELECT ${values}`),
    ' UNION ALL ',
  );
}

export function updateRowsOfPostgres(table: Sql, { columns, rows }: RowUpdates): Sql {
  const names = new Sql(['pk', ...columns].join(', '));
  const sets = new Sql(columns.map((name) => `${name} = v.${name}`).join(', '));
  return sql`UPDATE ${table} AS s SET ${sets} FROM ${unnest(typesOf(rows), rows)} AS v(${names}) WHERE s.pk = v.pk`;
}
