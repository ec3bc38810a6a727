import { eventsBytes } from '../../../domain/stored/byte-budget.js';
import type { StoredEvent } from '../../../domain/stored/commit.js';
import type { EventWindow } from '../../session-storage.js';
import { NO_SQL, Sql, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';

/** Events that are read without knowing their size: at most so many, and fewer for a small limit of bytes. */
const FEW = 64;
const USUAL_BYTES = 32_768;

function fewOf(maxBytes: number): number {
  return Math.min(FEW, Math.max(1, Math.floor(maxBytes / USUAL_BYTES)));
}

/** The limit of bytes only where it counts: of several ranges, and of anchors, it becomes a limit of events. */
export function boundedWindow({ maxBytes, ...window }: EventWindow): EventWindow {
  const { limit = Infinity, anchorsOnly, ranges } = window;
  if (maxBytes === undefined || maxBytes === Infinity || limit <= fewOf(maxBytes)) return window;
  const isSimple = !anchorsOnly && (ranges?.length ?? 1) === 1;
  return isSimple ? { ...window, maxBytes } : { ...window, limit: fewOf(maxBytes) };
}

/** The statement returns the first event that does not fit, too. */
export function isOver(events: readonly StoredEvent[], maxBytes = Infinity): boolean {
  return maxBytes !== Infinity && eventsBytes(events) > maxBytes;
}

interface FittingRange {
  /** Matches the events. */
  readonly range: Sql;
  readonly limit: number;
  readonly maxBytes: number;
  readonly keep?: EventWindow['keep'];
}

/**
 * Selects the first event with which the payloads, from the end that is kept, have too many bytes; of payloads that all fit, the outermost.
 * Only sizes are summed up: a running sum beside the payloads would copy them all into a temporary table in MariaDB. A running sum takes
 * five times as long as a sum, so that it is left to those that do not fit.
 */
export function outermostFitting(
  { tables, dialect }: Pick<SqlTransaction, 'tables' | 'dialect'>,
  { range, limit, maxBytes, keep }: FittingRange,
): Sql {
  const [outermost, order] = keep === 'oldest' ? [sql`MAX`, sql`ASC`] : [sql`MIN`, sql`DESC`];
  const sizes = sql`(
    SELECT seq, ${dialect.bytesOf(new Sql('payload'))} AS size FROM ${tables.events} WHERE ${range}
    ORDER BY seq ${order} ${Number.isFinite(limit) ? sql`LIMIT ${limit}` : NO_SQL}
  ) AS sizes`;
  return sql`
    SELECT CASE WHEN SUM(size) <= ${maxBytes} THEN ${outermost}(seq) ELSE (
      SELECT ${outermost}(seq) FROM (
        SELECT seq, size, SUM(size) OVER (ORDER BY seq ${order} ROWS UNBOUNDED PRECEDING) AS total FROM ${sizes}
      ) AS sums WHERE total - size <= ${maxBytes}
    ) END FROM ${sizes}`;
}
