import { isAsExpected } from '../../../domain/commit-rules.js';
import { inBatches } from '../../../domain/batches.js';
import { newStamp } from '../../../domain/stamp.js';
import type { CheckpointRequest, TrimRequest } from '../../session-storage.js';
import { lockLiveSession } from '../sql/session-rows.js';
import { type Sql, joinSql, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import type { Tables } from '../tables.js';

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

/** Replaces the payloads of old events by digests. Their ids stay too, so that a repeated append is still recognised. */
export async function trimLog(
  transaction: SqlTransaction,
  { key, newFirstSeq, digests, baseState, ...expected }: TrimRequest,
): Promise<void> {
  const session = await lockLiveSession(transaction, key);
  if (!session || !isAsExpected(session.record, expected)) return;
  const { sessions, checkpoints } = transaction.tables;
  transaction.addToCommit([
    sql`UPDATE ${sessions} SET first_seq = ${newFirstSeq}, base_state = ${baseState}, stamp = ${newStamp()} WHERE pk = ${session.pk}`,
    ...replacePayloads(transaction.tables, session.pk, expected.firstSeq, digests),
    sql`DELETE FROM ${checkpoints} WHERE session_pk = ${session.pk} AND seq < ${newFirstSeq - 1}`,
  ]);
}

/** Statements limit bound values, and a database may compare each row with each case. */
const DIGESTS_PER_UPDATE = { items: 100 };

function replacePayloads({ events }: Tables, pk: number, firstSeq: number, digests: readonly string[]): Sql[] {
  const numbered = digests.map((digest, index) => ({ seq: firstSeq + index, digest }));
  return inBatches(numbered, DIGESTS_PER_UPDATE).map((some) => {
    const cases = some.map(({ seq, digest }) => sql`WHEN ${seq} THEN ${digest}`);
    return sql`
      UPDATE ${events} SET payload = NULL, digest = CASE seq ${joinSql(cases, ' ')} END
      WHERE session_pk = ${pk} AND seq BETWEEN ${some[0]?.seq ?? 0} AND ${some.at(-1)?.seq ?? 0}`;
  });
}
