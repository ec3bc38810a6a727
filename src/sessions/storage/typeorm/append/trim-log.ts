import { isAsExpected } from '../../../domain/commit-rules.js';
import type { TrimRequest } from '../../session-storage.js';
import { lockLiveSession } from '../sql/session-rows.js';
import { sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';

/** Deletes the payloads of old events. Their ids stay, so that a repeated append is still recognised. */
export async function trimLog(
  transaction: SqlTransaction,
  { key, newFirstSeq, baseState, ...expected }: TrimRequest,
): Promise<void> {
  const session = await lockLiveSession(transaction, key);
  if (!session || !isAsExpected(session.record, expected)) return;
  const { sessions, events, checkpoints } = transaction.tables;
  transaction.addToCommit([
    sql`UPDATE ${sessions} SET first_seq = ${newFirstSeq}, base_state = ${baseState} WHERE pk = ${session.pk}`,
    sql`
      UPDATE ${events} SET payload = NULL
      WHERE session_pk = ${session.pk} AND seq BETWEEN ${expected.firstSeq} AND ${newFirstSeq - 1}`,
    sql`DELETE FROM ${checkpoints} WHERE session_pk = ${session.pk} AND seq < ${newFirstSeq - 1}`,
  ]);
}
