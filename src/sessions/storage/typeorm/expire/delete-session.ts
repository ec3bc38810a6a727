import type { DeleteRequest } from '../../session-storage.js';
import { hasKey } from '../sql/session-rows.js';
import { NO_SQL, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';

/** Deletes a session. Foreign keys delete its events and its state. */
export async function deleteSession(
  transaction: SqlTransaction,
  { incarnation, expectedVersion, ...key }: DeleteRequest,
): Promise<void> {
  const { tables } = transaction;
  // Incarnations of other stores may be any text.
  const isSame = incarnation === undefined ? NO_SQL : sql`AND pk = ${Number(incarnation) || 0}`;
  const isKnown =
    expectedVersion === undefined ? NO_SQL : sql`AND tip_seq <= ${expectedVersion} AND last_seq >= ${expectedVersion}`;
  const isWanted = sql`${hasKey(key)} ${isSame} ${isKnown}`;
  const notifications = transaction.deletionNotifications(isWanted);
  transaction.addToCommit([...notifications, sql`DELETE FROM ${tables.sessions} WHERE ${isWanted}`]);
}
