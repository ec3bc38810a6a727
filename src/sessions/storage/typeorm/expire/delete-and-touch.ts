import { expiresAt } from '../../../domain/expiry.js';
import { newStamp } from '../../../domain/stamp.js';
import type { DeleteRequest, TouchRequest } from '../../session-storage.js';
import { hasKey, lockLiveSession } from '../sql/session-rows.js';
import { minuteOf } from '../sql/minutes.js';
import { NO_SQL, type Sql, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { renewScope } from '../state/write-state.js';

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
    renewals.push(
      sql`UPDATE ${tables.sessions} SET expires_at = ${expiry}, expiry_minute = ${minuteOf(expiry)}, stamp = ${newStamp()}
          WHERE pk = ${session.pk}`,
    );
  }
  if (renew.app) renewals.push(renewScope(transaction, { appName }, renew.app));
  if (renew.user) renewals.push(renewScope(transaction, { appName, userId }, renew.user));
  transaction.addToCommit(renewals);
}
