import type { DeletedSession } from '../../session-store.js';
import { hasKey, parsePrimaryKey } from '../sql/session-rows.js';
import { NO_SQL, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';

/** Deletes a session. Foreign keys delete its events and its state. Returns whether it is gone. */
export async function deleteSession(
  transaction: SqlTransaction,
  { incarnation, stamp, ...key }: DeletedSession,
): Promise<boolean> {
  const { tables } = transaction;
  const isSame = incarnation === undefined ? NO_SQL : sql`AND pk = ${parsePrimaryKey({ incarnation })}`;
  const isKnown = stamp === undefined ? NO_SQL : sql`AND stamp = ${stamp}`;
  const isWanted = sql`${hasKey(key)} ${isSame} ${isKnown}`;
  const notifications = transaction.deletionNotifications(isWanted);
  const deletion = sql`DELETE FROM ${tables.sessions} WHERE ${isWanted}`;
  if (stamp === undefined) {
    transaction.addToCommit([...notifications, deletion]);
    return true;
  }
  await transaction.changeAll(notifications);
  return (await transaction.change(deletion)) > 0;
}
