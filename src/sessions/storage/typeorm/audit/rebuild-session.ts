import { isAsExpected } from '../../../domain/commit-rules.js';
import { payloadChecksum } from '../../../domain/event-digest.js';
import { USAGE_COUNTS } from '../../../domain/usage.js';
import { inBatches } from '../../../domain/batches.js';
import type { RebuildRequest } from '../../rebuild.js';
import { lockLiveSession } from '../sql/session-rows.js';
import { sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { setGroups } from './grouped-events.js';
import { writeUsage } from '../state/write-usage.js';

/** Replaces what follows from the log of a session. The lock makes it wait for appends that are being committed. */
export async function rebuildSession(
  transaction: SqlTransaction,
  { key, events = [], usage, removeCheckpoints = [], anchors = [], groups = [], ...expected }: RebuildRequest,
): Promise<boolean> {
  const session = await lockLiveSession(transaction, key);
  if (!session || !isAsExpected(session.record, expected)) return false;
  const { pk } = session;
  const { tables, dialect } = transaction;
  const ofSessions = (usage ?? []).map((sums) => [pk, sums.model, ...USAGE_COUNTS.map((name) => sums[name])]);
  transaction.addToCommit([
    ...events.map(
      ({ seq, payload }) =>
        sql`UPDATE ${tables.events} SET payload = ${payload}, digest = ${payloadChecksum(payload)}, anchor = 0
            WHERE session_pk = ${pk} AND seq = ${seq}`,
    ),
    ...inBatches(removeCheckpoints).map(
      (seqs) => sql`DELETE FROM ${tables.checkpoints} WHERE session_pk = ${pk} AND seq IN (${sqlList(seqs)})`,
    ),
    ...inBatches(anchors).map(
      (seqs) => sql`UPDATE ${tables.events} SET anchor = 1 WHERE session_pk = ${pk} AND seq IN (${sqlList(seqs)})`,
    ),
    ...setGroups(transaction, pk, groups),
    ...(usage ? [sql`DELETE FROM ${tables.sessionUsage} WHERE session_pk = ${pk}`] : []),
    ...writeUsage(dialect, tables, { ofSessions, shared: [] }),
  ]);
  return true;
}
