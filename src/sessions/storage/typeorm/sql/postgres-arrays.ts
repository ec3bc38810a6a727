import { joinSql, Sql, sql, type SqlValue } from './sql.js';

type Values = readonly SqlValue[];

/** Rows as one array for each column: the text of the statement does not depend on their number, so that it can be prepared. */
export function unnest(types: readonly string[], rows: readonly Values[]): Sql {
  const arrays = types.map((type, place) => {
    const column = rows.map((row) => row[place] ?? null);
    return sql`CAST(${arrayText(column)} AS ${new Sql(type)}[])`;
  });
  return sql`unnest(${joinSql(arrays, ', ')})`;
}

/** The types of columns with numbers, or with texts. */
export function typesOf(rows: readonly Values[]): readonly string[] {
  const isNumber = (place: number): boolean => rows.every((row) => typeof row[place] === 'number');
  return rows[0]?.map((_value, place) => (isNumber(place) ? 'bigint' : 'text')) ?? [];
}

/** An array as PostgreSQL writes it. */
export function arrayText(values: Values): string {
  const items = values.map((value) => {
    if (value === null) return 'NULL';
    return typeof value === 'number' ? String(value) : `"${value.replaceAll(/[\\"]/g, String.raw`\$&`)}"`;
  });
  return `{${items.join(',')}}`;
}
