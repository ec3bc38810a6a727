import type { Dialect } from '../dialect.js';
import { inOrder, sql } from '../sql.js';

const UTF8_BY_BYTES = { charset: 'utf8mb4', collation: 'utf8mb4_bin' };

/**
 * MySQL and MariaDB. Their collations take different texts for the same one, if only for the spaces at the
 * end; so whatever is compared is kept as bytes.
 */
export const mysqlDialect: Dialect = {
  name: 'mysql',
  columnTypes: {
    key: 'bigint',
    count: 'int',
    number: 'bigint',
    exact: (bytes) => ({ type: 'varbinary', length: String(bytes) }),
    text: 'longtext',
    textCollation: UTF8_BY_BYTES,
  },
  hasPartialIndexes: false,
  locksRows: true,
  foundBy: (index) => sql`FORCE INDEX (${index})`,
  lock: (_alias, order) => sql`${inOrder(order)} FOR UPDATE`,
  lockFree: () => sql`FOR UPDATE SKIP LOCKED`,
  orNewValue: () => sql`ON DUPLICATE KEY UPDATE value = VALUES(value)`,
  orLaterTime: () => sql`ON DUPLICATE KEY UPDATE due_time = GREATEST(due_time, VALUES(due_time))`,
};
