import { restoredPeriod } from '../../../domain/usage/usage-periods.js';
import { type ModelUsage, USAGE_COUNTS } from '../../../domain/usage/usage.js';
import type { RestoreUsageRequest } from '../../transfer-store.js';
import { sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { userIdOf } from '../state/locked-scopes.js';
import { writeUsage } from '../state/write-usage.js';

/** Stores sums of usage, unless the owner has some. */
export async function restoreUsage(
  transaction: SqlTransaction,
  { owner, sums, keepMs }: RestoreUsageRequest,
): Promise<boolean> {
  const { now, dialect, tables } = transaction;
  const userId = userIdOf(owner);
  const ofOwner = sql`${tables.sharedUsage} WHERE app_name = ${owner.appName} AND user_id = ${userId}`;
  const live = await transaction.rows(sql`SELECT model FROM ${ofOwner} AND expires_at > ${now} LIMIT 1`);
  if (live.length > 0) return false;
  const shared = sums.flatMap(({ period, models }) => {
    const { name, expiresAt } = restoredPeriod(period, now, keepMs);
    return models.map((usage) => [owner.appName, userId, name, 0, usage.model, ...listUsageCounts(usage), expiresAt]);
  });
  transaction.addToCommit([
    sql`DELETE FROM ${ofOwner} AND expires_at <= ${now}`,
    ...writeUsage(dialect, tables, shared),
  ]);
  return true;
}

function listUsageCounts(usage: ModelUsage): number[] {
  return USAGE_COUNTS.map((name) => usage[name]);
}
