/** A value that a statement can bind. */
export type SqlValue = string | number | null;

/** A piece of SQL and its bound values. The text never contains values. */
export class Sql {
  constructor(
    readonly text: string,
    readonly values: readonly SqlValue[] = [],
  ) {}
}

/**
 * Builds SQL from a template. A value becomes a placeholder. A piece of SQL becomes part of the text.
 *
 * @example
 * sql`SELECT pk FROM ${tables.sessions} WHERE app_name = ${appName}`;
 */
export function sql(strings: TemplateStringsArray, ...parts: readonly (SqlValue | Sql)[]): Sql {
  let text = strings[0] ?? '';
  const values: SqlValue[] = [];
  for (const [index, part] of parts.entries()) {
    if (part instanceof Sql) {
      text += part.text;
      values.push(...part.values);
    } else {
      text += '?';
      values.push(part);
    }
    text += strings[index + 1] ?? '';
  }
  return new Sql(text, values);
}

/** Joins pieces of SQL. */
export function joinSql(pieces: readonly Sql[], separator: string): Sql {
  return new Sql(
    pieces.map(({ text }) => text).join(separator),
    pieces.flatMap(({ values }) => values),
  );
}

/** A list of values for `IN`. */
export function sqlList(values: readonly SqlValue[]): Sql {
  return new Sql(values.map(() => '?').join(', '), values);
}

export const NO_SQL = new Sql('');

export function orderBy(columns: Sql | undefined): Sql {
  return columns ? sql`ORDER BY ${columns}` : NO_SQL;
}

/** Columns with their values. */
export type Columns<Value extends SqlValue = SqlValue> = readonly (readonly [column: string, value: Value])[];

/** `a = 1, b = 2` or `a = 1 AND b = 2`. */
export function equalities(columns: Columns, separator: ', ' | ' AND '): Sql {
  return joinSql(
    columns.map(([column, value]) => sql`${new Sql(column)} = ${value}`),
    separator,
  );
}
