import type { CheckpointRequest } from '../../session-storage.js';
import { lockLiveSession } from '../sql/session-rows.js';
import { sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';

/** Inserts a checkpoint. The lock makes it wait for a trim, and two savers wait for each other. */
export async function saveCheckpoint(
  transaction: SqlTransaction,
  { key, incarnation, seq, text }: CheckpointRequest,
): Promise<void> {
  const session = await lockLiveSession(transaction, key);
  if (session?.record.incarnation !== incarnation || seq < session.record.firstSeq - 1) return;
  const { checkpoints } = transaction.tables;
  transaction.addToCommit([
    sql`DELETE FROM ${checkpoints} WHERE session_pk = ${session.pk} AND seq = ${seq}`,
    sql`INSERT INTO ${checkpoints} (session_pk, seq, content) VALUES (${session.pk}, ${seq}, ${text})`,
  ]);
}
