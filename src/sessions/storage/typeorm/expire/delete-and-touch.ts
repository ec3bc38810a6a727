import { expiresAt } from '../../../domain/expiry.js';
import type { SessionKey } from '../../../domain/ids.js';
import type { TouchRequest } from '../../session-storage.js';
import { hasKey, lockLiveSession } from '../sql/session-rows.js';
import { type Sql, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { renewScope } from '../state/write-state.js';

/** Deletes a session. Foreign keys delete its events and its state. */
export async function deleteSession(transaction: SqlTransaction, key: SessionKey): Promise<void> {
  const { tables } = transaction;
  const notifications = transaction.deletionNotifications(hasKey(key));
  transaction.addToCommit([...notifications, sql`DELETE FROM ${tables.sessions} WHERE ${hasKey(key)}`]);
}

/** Renews what has not expired. */
export async function touchSession(
  transaction: SqlTransaction,
  { key, incarnation, renew }: TouchRequest,
): Promise<void> {
  const { tables } = transaction;
  const { appName, userId } = key;
  const renewals: Sql[] = [];
  const session = renew.session && (await lockLiveSession(transaction, key));
  if (renew.session && session?.record.incarnation === incarnation) {
    const expiry = expiresAt(transaction.now, renew.session);
    renewals.push(sql`UPDATE ${tables.sessions} SET expires_at = ${expiry} WHERE pk = ${session.pk}`);
  }
  if (renew.app) renewals.push(renewScope(transaction, { appName }, renew.app));
  if (renew.user) renewals.push(renewScope(transaction, { appName, userId }, renew.user));
  transaction.addToCommit(renewals);
}
