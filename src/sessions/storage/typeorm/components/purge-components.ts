import { inBatches } from '../../../domain/batches.js';
import { sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction, Transactions } from '../sql/transaction.js';

/** Limits how long one transaction delays saves. */
const ITEMS_PER_BATCH = 5_000;
const SESSION_BATCH = {
  items: 500,
  weight: ITEMS_PER_BATCH,
  weightOf: (session: ExpiredSession) => (isLarge(session) ? 1 : session.items + 1),
};

interface ExpiredSession {
  readonly pk: number;
  readonly items: number;
}

/** Deletes expired sessions, the items of large ones in batches before. Processes that purge at the same time skip each other's rows. */
export async function purgeComponents(transactions: Pick<Transactions, 'write'>, limit: number): Promise<number> {
  const expired = await transactions.write((transaction) => expiredSessions(transaction, limit));
  for (const { pk } of expired.filter(isLarge)) {
    let removed: number;
    do removed = await transactions.write((transaction) => removeItems(transaction, pk));
    while (removed > 0);
  }
  let count = 0;
  for (const batch of inBatches(expired, SESSION_BATCH)) {
    const pks = sqlList(batch.map(({ pk }) => pk));
    count += await transactions.write((transaction) => {
      const { componentSessions } = transaction.tables;
      return transaction.change(
        sql`DELETE FROM ${componentSessions} WHERE pk IN (${pks}) AND expires_at <= ${transaction.now}`,
      );
    });
  }
  return count;
}

function isLarge({ items }: ExpiredSession): boolean {
  return items > ITEMS_PER_BATCH;
}

async function expiredSessions(transaction: SqlTransaction, limit: number): Promise<ExpiredSession[]> {
  const { dialect, tables, now } = transaction;
  const rows = await transaction.rows<{ pk: number; items: number | string }>(sql`
    SELECT s.pk, (SELECT COALESCE(SUM(c.items), 0) FROM ${tables.components} c WHERE c.session_pk = s.pk) AS items
    FROM ${tables.componentSessions} s
    WHERE s.expires_at <= ${now} ORDER BY s.expires_at LIMIT ${limit} ${dialect.lockSkipLocked('s')}`);
  const expired = rows.map(({ pk, items }) => ({ pk, items: Number(items) }));
  const large = expired.filter(isLarge).map(({ pk }) => pk);
  // A save that began before the expiry may still be running. It must not find a list without its first items.
  if (large.length > 0) {
    const pks = sqlList(large);
    transaction.addToCommit([sql`UPDATE ${tables.componentSessions} SET expires_at = 0 WHERE pk IN (${pks})`]);
  }
  return expired;
}

/** Removes some items of the first list that has any. */
async function removeItems(transaction: SqlTransaction, pk: number): Promise<number> {
  const { tables } = transaction;
  const [first] = await transaction.rows<{ name: string; seq: number }>(sql`
    SELECT i.name, i.seq FROM ${tables.componentItems} i WHERE i.session_pk = ${pk} ORDER BY i.name, i.seq LIMIT 1`);
  if (!first) return 0;
  return transaction.change(sql`
    DELETE FROM ${tables.componentItems}
    WHERE session_pk = ${pk} AND name = ${first.name} AND seq < ${first.seq + ITEMS_PER_BATCH}`);
}
