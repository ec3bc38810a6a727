import type { UserKey } from '../../../domain/values/ids.js';
import type { RestoreUsageRequest, TransferStore } from '../../transfer-store.js';
import { sql } from '../sql/sql.js';
import type { SqlTransaction, Transactions } from '../sql/transaction.js';
import { eraseUser } from './erase-user.js';
import { restoreUsage } from './restore-usage.js';

/** How many users are read at a time. */
const USERS_PER_STEP = 500;

/** Takes over sessions of other stores, and erases users. */
export class SqlTransfer implements TransferStore {
  constructor(private readonly open: () => Promise<Transactions>) {}

  async *sharedOwners(appName: string): AsyncIterable<readonly string[]> {
    const transactions = await this.open();
    for (let after = ''; ;) {
      const users = await transactions.read((transaction) => usersAfter(transaction, appName, after));
      if (users.length > 0) yield users;
      if (users.length < USERS_PER_STEP) return;
      after = users.at(-1) ?? '';
    }
  }

  async restoreUsage(request: RestoreUsageRequest): Promise<boolean> {
    const transactions = await this.open();
    return transactions.write((transaction) => restoreUsage(transaction, request));
  }

  async eraseUser(user: UserKey): Promise<number> {
    const transactions = await this.open();
    return eraseUser(transactions, user);
  }
}

async function usersAfter(transaction: SqlTransaction, appName: string, after: string): Promise<string[]> {
  const { sharedScopes, sharedUsage } = transaction.tables;
  const rows = await transaction.rows<{ user_id: string }>(sql`
    SELECT user_id FROM ${sharedScopes} WHERE app_name = ${appName} AND user_id > ${after}
    UNION
    SELECT user_id FROM ${sharedUsage} WHERE app_name = ${appName} AND user_id > ${after}
    ORDER BY user_id LIMIT ${USERS_PER_STEP}`);
  return rows.map(({ user_id: userId }) => userId);
}
