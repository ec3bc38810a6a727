import type { Dialect } from '../dialect.js';
import { NO_SQL, Sql, inOrder, sql } from '../sql.js';

/** Ids have the collation "C", which compares bytes whatever the database was made with. */
export const postgresDialect: Dialect = {
  name: 'postgres',
  columnTypes: {
    key: 'bigint',
    count: 'integer',
    number: 'bigint',
    exact: () => ({ type: 'text' }),
    text: 'text',
    exactCollation: { collation: 'C' },
  },
  hasPartialIndexes: true,
  locksRows: true,
  foundBy: () => NO_SQL,
  lock: (alias, order) => sql`${inOrder(order)} FOR UPDATE OF ${new Sql(alias)}`,
  lockFree: (alias) => sql`FOR UPDATE OF ${new Sql(alias)} SKIP LOCKED`,
  orNewValue: (key) => sql`ON CONFLICT (${key}, name) DO UPDATE SET value = excluded.value`,
  orLaterTime: (table) =>
    sql`ON CONFLICT (name) DO UPDATE SET due_time = excluded.due_time WHERE ${table}.due_time < excluded.due_time`,
};
