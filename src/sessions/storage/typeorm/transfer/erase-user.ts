import type { UserKey } from '../../../domain/ids.js';
import type { EraseUserRequest } from '../../transfer-store.js';
import { type SizedSession, emptyLargeLogs, endLargeSessions, inSessionBatches } from '../expire/session-batches.js';
import { type Sql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction, Transactions } from '../sql/transaction.js';

/** How many sessions are found at a time. */
const SESSIONS_PER_STEP = 1_000;

/** Deletes the sessions of a user, expired or not, in batches; then the shared state, the usage and the agenda. */
export async function eraseUser(
  transactions: Transactions,
  { agendaPrefix, ...user }: EraseUserRequest,
): Promise<number> {
  let erased = 0;
  for (;;) {
    const found = await transactions.write((transaction) => sessionsOf(transaction, user));
    if (found.length === 0) break;
    await emptyLargeLogs(transactions, found);
    for (const batch of inSessionBatches(found)) {
      const pks = batch.map(({ pk }) => pk);
      erased += await transactions.write((transaction) => removeSessions(transaction, pks));
    }
  }
  await transactions.write(async (transaction) => {
    const { agenda, sharedScopes, sharedUsage } = transaction.tables;
    transaction.addToCommit([
      sql`DELETE FROM ${sharedScopes} WHERE ${isOf(user)}`,
      sql`DELETE FROM ${sharedUsage} WHERE ${isOf(user)}`,
      sql`DELETE FROM ${agenda} WHERE name >= ${agendaPrefix} AND name < ${endOf(agendaPrefix)}`,
    ]);
  });
  return erased;
}

async function sessionsOf(transaction: SqlTransaction, user: UserKey): Promise<SizedSession[]> {
  const found = await transaction.rows<SizedSession>(sql`
    SELECT pk, last_seq FROM ${transaction.tables.sessions} WHERE ${isOf(user)} LIMIT ${SESSIONS_PER_STEP}`);
  endLargeSessions(transaction, found);
  return found;
}

/** Foreign keys delete all that belongs to the sessions. */
async function removeSessions(transaction: SqlTransaction, pks: readonly number[]): Promise<number> {
  const where = sql`pk IN (${sqlList(pks)})`;
  await transaction.changeAll(transaction.deletionNotifications(where));
  return transaction.change(sql`DELETE FROM ${transaction.tables.sessions} WHERE ${where}`);
}

function isOf({ appName, userId }: UserKey): Sql {
  return sql`app_name = ${appName} AND user_id = ${userId}`;
}

/** The first text after all that begin with the prefix. */
function endOf(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}
