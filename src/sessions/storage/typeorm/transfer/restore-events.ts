import { isAsExpected } from '../../../domain/commit-rules.js';
import type { RestoreEventsRequest } from '../../transfer-store.js';
import { newStamp } from '../../../domain/stamp.js';
import { insertEvents } from '../append/planned-rows.js';
import { lockLiveSession } from '../sql/session-rows.js';
import { sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';

/** Adds events with the times that they had in another store. */
export async function restoreEvents(
  transaction: SqlTransaction,
  { key, incarnation, lastSeq, events }: RestoreEventsRequest,
): Promise<boolean> {
  const session = await lockLiveSession(transaction, key);
  if (!session || !isAsExpected(session.record, { incarnation, lastSeq })) return false;
  const { pk, record } = session;
  const { tables } = transaction;
  const last = lastSeq + events.length;
  const highWater = Math.max(record.highWater, events.at(-1)?.highWater ?? 0);
  transaction.addToCommit([
    ...insertEvents(
      tables,
      events.map((event, index) => ({ ...event, pk, seq: lastSeq + 1 + index })),
    ),
    sql`UPDATE ${tables.sessions} SET last_seq = ${last}, high_water = ${highWater}, stamp = ${newStamp()} WHERE pk = ${pk}`,
  ]);
  transaction.notify({ pk, lastSeq: last });
  return true;
}
