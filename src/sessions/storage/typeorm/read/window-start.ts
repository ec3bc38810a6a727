import type { ReadRequest } from '../../session-storage.js';
import { hasKey } from '../sql/session-rows.js';
import { joinSql, type Sql, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';

/**
 * A column that is read with a session: the `seq` after which the window of a read begins. None if it begins with the log.
 *
 * `high_water` never decreases along the log, so this is a binary search: one look at the log for each of its steps, and no index by
 * time, which every append would write. It is a part of the first statement because MariaDB compares a column with a number by an index,
 * and with a subquery row by row.
 */
export function windowStart(
  { tables, time }: SqlTransaction,
  { key, window: { since = 0, maxAgeMs } = {} }: ReadRequest,
): Sql[] {
  const isBefore = [
    ...(since > 0 ? [sql`p.high_water < ${Math.ceil(since)}`] : []),
    ...(maxAgeMs === undefined ? [] : [sql`p.high_water + ${Math.floor(maxAgeMs)} < ${time}`]),
  ];
  if (isBefore.length === 0) return [];
  const [middle, early] = [sql`(probe.low + probe.high) >> 1`, joinSql(isBefore, ' OR ')];
  return [
    sql`(
    WITH RECURSIVE probe (pk, low, high) AS (
      SELECT f.pk, f.first_seq - 1, f.last_seq + 1 FROM ${tables.sessions} f WHERE ${hasKey(key)}
      UNION ALL
      SELECT probe.pk, CASE WHEN ${early} THEN ${middle} ELSE probe.low END, CASE WHEN ${early} THEN probe.high ELSE ${middle} END
      FROM probe LEFT JOIN ${tables.events} p ON p.session_pk = probe.pk AND p.seq = ${middle}
      WHERE probe.high - probe.low > 1
    ) SELECT MAX(low) FROM probe
  ) AS window_start`,
  ];
}
