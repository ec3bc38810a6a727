import { restoredPeriod, sessionOfUsage } from '../../../domain/usage-periods.js';
import { type ModelUsage, USAGE_COUNTS } from '../../../domain/usage.js';
import type { RestoreUsageRequest } from '../../transfer-store.js';
import { lockLiveSession } from '../sql/session-rows.js';
import { type Sql, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { userIdOf } from '../state/locked-scopes.js';
import { writeUsage } from '../state/write-usage.js';

/** Stores sums of usage, unless the owner has some. */
export async function restoreUsage(
  transaction: SqlTransaction,
  { owner, sums, keepMs }: RestoreUsageRequest,
): Promise<boolean> {
  const { dialect, tables } = transaction;
  const key = sessionOfUsage(owner);
  if (key) {
    const session = await lockLiveSession(transaction, key);
    if (!session) return false;
    const { pk } = session;
    if (await hasRows(transaction, sql`${tables.sessionUsage} WHERE session_pk = ${pk}`)) return false;
    const ofSessions = sums.flatMap(({ models }) => models.map((usage) => [pk, usage.model, ...countsOf(usage)]));
    transaction.addToCommit(writeUsage(dialect, tables, { ofSessions, shared: [] }));
    return true;
  }
  const { now } = transaction;
  const userId = userIdOf(owner);
  const ofOwner = sql`${tables.sharedUsage} WHERE app_name = ${owner.appName} AND user_id = ${userId}`;
  if (await hasRows(transaction, sql`${ofOwner} AND expires_at > ${now}`)) return false;
  const shared = sums.flatMap(({ period, models }) => {
    const { name, expiresAt } = restoredPeriod(period, now, keepMs);
    return models.map((usage) => [owner.appName, userId, name, 0, usage.model, ...countsOf(usage), expiresAt]);
  });
  transaction.addToCommit([
    sql`DELETE FROM ${ofOwner} AND expires_at <= ${now}`,
    ...writeUsage(dialect, tables, { ofSessions: [], shared }),
  ]);
  return true;
}

async function hasRows(transaction: SqlTransaction, from: Sql): Promise<boolean> {
  return (await transaction.rows(sql`SELECT model FROM ${from} LIMIT 1`)).length > 0;
}

function countsOf(usage: ModelUsage): number[] {
  return USAGE_COUNTS.map((name) => usage[name]);
}
