import type { Dialect } from '../dialect.js';
import { NO_SQL, sql } from '../sql.js';

/** Text compares byte for byte, and a transaction that writes has the whole file to itself. */
export const sqliteDialect: Dialect = {
  name: 'sqlite',
  columnTypes: {
    key: 'integer',
    count: 'integer',
    number: 'integer',
    exact: () => ({ type: 'text' }),
    text: 'text',
  },
  hasPartialIndexes: true,
  locksRows: false,
  foundBy: () => NO_SQL,
  lock: () => NO_SQL,
  lockFree: () => NO_SQL,
  orNewValue: (key) => sql`ON CONFLICT (${key}, name) DO UPDATE SET value = excluded.value`,
  orLaterTime: (table) =>
    sql`ON CONFLICT (name) DO UPDATE SET due_time = excluded.due_time WHERE ${table}.due_time < excluded.due_time`,
};
