import { isExpired } from '../../../domain/expiry.js';
import { inBatches } from '../../../domain/batches.js';
import type { LogPosition, LogReference } from '../../session-changes.js';
import { sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';

interface PositionRow {
  readonly pk: number;
  readonly last_seq: number;
  readonly expires_at: number;
}

/** Reads the positions of logs in portions. The incarnation is the primary key of the session. */
export async function logPositions(
  transaction: SqlTransaction,
  logs: readonly LogReference[],
): Promise<(LogPosition | undefined)[]> {
  const positions = new Map<string, LogPosition>();
  const { sessions } = transaction.tables;
  for (const portion of inBatches(logs)) {
    const pks = portion.map(({ incarnation }) => Number(incarnation));
    const rows = await transaction.rows<PositionRow>(
      sql`SELECT s.pk, s.last_seq, s.expires_at FROM ${sessions} s WHERE s.pk IN (${sqlList(pks)})`,
    );
    for (const { pk, last_seq: lastSeq, expires_at: expiry } of rows) {
      if (isExpired(expiry, transaction.now)) continue;
      positions.set(String(pk), { lastSeq, livesForMs: expiry - transaction.now });
    }
    const streams = portion.filter(({ withPartials }) => withPartials);
    if (streams.length === 0) continue;
    const newest = await newestPartials(transaction, streams);
    for (const { incarnation } of streams) {
      const position = positions.get(incarnation);
      if (position) positions.set(incarnation, { ...position, lastPartial: newest.get(incarnation) ?? 0 });
    }
  }
  return logs.map(({ incarnation }) => positions.get(incarnation));
}

async function newestPartials(
  transaction: SqlTransaction,
  logs: readonly LogReference[],
): Promise<ReadonlyMap<string, number>> {
  const pks = logs.map(({ incarnation }) => Number(incarnation));
  const rows = await transaction.rows<{ readonly session_pk: number; readonly newest: number }>(sql`
    SELECT session_pk, MAX(number) AS newest FROM ${transaction.tables.partials}
    WHERE session_pk IN (${sqlList(pks)}) GROUP BY session_pk`);
  return new Map(rows.map(({ session_pk: pk, newest }) => [String(pk), newest]));
}
