import type { UserKey } from '../../../domain/values/ids.js';
import { type SizedSession, endLargeSessions, removeInBatches } from '../expire/session-batches.js';
import { type Sql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction, Transactions } from '../sql/transaction.js';

/** How many sessions are found at a time. */
const SESSIONS_PER_STEP = 1_000;

/** Deletes the sessions of a user, expired or not, in batches; then the shared state and the usage. */
export async function eraseUser(transactions: Transactions, user: UserKey): Promise<number> {
  let erased = 0;
  for (;;) {
    const found = await transactions.write((transaction) => prepareSessionsToErase(transaction, user));
    if (found.length === 0) break;
    erased += await removeInBatches(transactions, found, removeSessions);
  }
  await transactions.write(async (transaction) => {
    const { sharedScopes, sharedUsage } = transaction.tables;
    transaction.addToCommit([
      sql`DELETE FROM ${sharedScopes} WHERE ${createUserCondition(user)}`,
      sql`DELETE FROM ${sharedUsage} WHERE ${createUserCondition(user)}`,
    ]);
  });
  return erased;
}

async function prepareSessionsToErase(transaction: SqlTransaction, user: UserKey): Promise<SizedSession[]> {
  const found = await transaction.rows<SizedSession>(sql`
    SELECT pk, last_seq FROM ${transaction.tables.sessions} WHERE ${createUserCondition(user)} LIMIT ${SESSIONS_PER_STEP}`);
  await endLargeSessions(transaction, found);
  return found;
}

/** Foreign keys delete all that belongs to the sessions. */
async function removeSessions(transaction: SqlTransaction, pks: readonly number[]): Promise<number> {
  const where = sql`pk IN (${sqlList(pks)})`;
  await transaction.changeAll(transaction.deletionNotifications(where));
  return transaction.change(sql`DELETE FROM ${transaction.tables.sessions} WHERE ${where}`);
}

function createUserCondition({ appName, userId }: UserKey): Sql {
  return sql`app_name = ${appName} AND user_id = ${userId}`;
}
