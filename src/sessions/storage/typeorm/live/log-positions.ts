import { isExpired } from '../../../domain/expiry.js';
import { inBatches } from '../../../domain/batches.js';
import type { LogPosition, LogReference } from '../../session-changes.js';
import { LastQueries } from '../sql/last-queries.js';
import { type Sql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';

interface NewestRow {
  readonly session_pk: number;
  readonly newest: number;
}

interface PositionRow {
  readonly pk: number;
  readonly last_seq: number;
  readonly expires_at: number;
}

/** Reads the positions of logs in portions, with one message. The incarnation is the primary key of the session. */
export async function logPositions(
  transaction: SqlTransaction,
  logs: readonly LogReference[],
): Promise<(LogPosition | undefined)[]> {
  const last = new LastQueries(transaction);
  const sessions = inBatches(logs).map((portion) => last.add<PositionRow>(selectPositions(transaction, portion)));
  const streams = inBatches(logs.filter(({ withPartials }) => withPartials));
  const partials = streams.map((portion) => last.add<NewestRow>(selectNewestPartials(transaction, portion)));
  await last.run();
  const positions = new Map(sessions.flatMap((rows) => rows()).map((row) => [String(row.pk), row]));
  const newest = new Map(partials.flatMap((rows) => rows()).map((row) => [String(row.session_pk), row.newest]));
  return logs.map(({ incarnation, withPartials }) => {
    const found = positions.get(incarnation);
    if (!found || isExpired(found.expires_at, transaction.now)) return undefined;
    return {
      lastSeq: found.last_seq,
      livesForMs: found.expires_at - transaction.now,
      ...(withPartials && { lastPartial: newest.get(incarnation) ?? 0 }),
    };
  });
}

function selectPositions({ tables }: SqlTransaction, logs: readonly LogReference[]): Sql {
  return sql`SELECT s.pk, s.last_seq, s.expires_at FROM ${tables.sessions} s WHERE s.pk IN (${sqlList(logs.map(pkOf))})`;
}

function selectNewestPartials({ tables }: SqlTransaction, logs: readonly LogReference[]): Sql {
  return sql`
    SELECT session_pk, MAX(number) AS newest FROM ${tables.partials}
    WHERE session_pk IN (${sqlList(logs.map(pkOf))}) GROUP BY session_pk`;
}

function pkOf({ incarnation }: LogReference): number {
  return Number(incarnation);
}
