import type { SessionKey } from '../../../domain/ids.js';
import { hasKey } from '../sql/session-rows.js';
import { sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';

/** Deletes a session. Foreign keys delete its events and its state. */
export async function deleteSession(transaction: SqlTransaction, key: SessionKey): Promise<void> {
  const { tables } = transaction;
  const notifications = transaction.deletionNotifications(hasKey(key));
  transaction.addToCommit([...notifications, sql`DELETE FROM ${tables.sessions} WHERE ${hasKey(key)}`]);
}
