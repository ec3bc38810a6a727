import { inBatches } from '../../../domain/stored/batches.js';
import type { PurgeCounts } from '../../session-storage.js';
import { minuteOf } from '../sql/minutes.js';
import { type Sql, joinSql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction, Transactions } from '../sql/transaction.js';
import { removeEntries } from '../entries/sql-entries.js';
import { type SizedSession, endLargeSessions, removeInBatches } from './session-batches.js';

/**
 * Deletes up to `limit` expired sessions and scopes. It deletes the events of a large session in batches before the
 * session. Processes that purge at the same time skip each other's rows.
 */
export async function purgeExpired(transactions: Transactions, limit: number): Promise<PurgeCounts> {
  const expired = await transactions.write((transaction) => expiredSessions(transaction, limit));
  const sessions = await removeInBatches(transactions, expired, removeSessions);
  await transactions.write((transaction) => removeEntries(transaction, limit));
  await transactions.write((transaction) => removePartials(transaction, limit));
  await transactions.write((transaction) => removeUsage(transaction, limit));
  return {
    sessions,
    userStates: await transactions.write((transaction) => removeScopes(transaction, sql`user_id <> ''`, limit)),
    appStates: await transactions.write((transaction) => removeScopes(transaction, sql`user_id = ''`, limit)),
  };
}

async function expiredSessions(transaction: SqlTransaction, limit: number): Promise<SizedSession[]> {
  const { dialect, tables, now } = transaction;
  const expired = await transaction.rows<SizedSession>(sql`
    SELECT s.pk, s.last_seq FROM ${tables.sessions} s
    WHERE s.expiry_minute <= ${minuteOf(now)} AND s.expires_at <= ${now}
    ORDER BY s.expiry_minute LIMIT ${limit} ${dialect.lockSkipLocked('s')}`);
  await endLargeSessions(transaction, expired);
  return expired;
}

/** Foreign keys delete events and state. A session that was renewed in the meantime stays. */
function removeSessions(transaction: SqlTransaction, pks: readonly number[]): Promise<number> {
  const { tables, now } = transaction;
  return transaction.change(sql`DELETE FROM ${tables.sessions} WHERE pk IN (${sqlList(pks)}) AND expires_at <= ${now}`);
}

async function removeScopes(transaction: SqlTransaction, isOfKind: Sql, limit: number): Promise<number> {
  const { dialect, tables, now } = transaction;
  const expired = await transaction.rows<{ pk: number }>(sql`
    SELECT x.pk FROM ${tables.sharedScopes} x
    WHERE x.expires_at <= ${now} AND ${isOfKind} ORDER BY x.expires_at LIMIT ${limit} ${dialect.lockSkipLocked('x')}`);
  if (expired.length === 0) return 0;
  return transaction.change(
    sql`DELETE FROM ${tables.sharedScopes} WHERE pk IN (${sqlList(expired.map(({ pk }) => pk))})`,
  );
}

/** At least `limit` expired partial events, if there are as many: all of their sessions. */
async function removePartials(transaction: SqlTransaction, limit: number): Promise<void> {
  const { dialect, tables, now } = transaction;
  const expired = await transaction.rows<{ session_pk: number }>(sql`
    SELECT x.session_pk FROM ${tables.partials} x
    WHERE x.expires_at <= ${now} ORDER BY x.expires_at LIMIT ${limit} ${dialect.lockSkipLocked('x')}`);
  if (expired.length === 0) return;
  const pks = [...new Set(expired.map(({ session_pk: pk }) => pk))];
  await transaction.change(
    sql`DELETE FROM ${tables.partials} WHERE session_pk IN (${sqlList(pks)}) AND expires_at <= ${now}`,
  );
}

/** Rows without a number of their own. Others skip those that a purge has locked. */
async function removeUsage(transaction: SqlTransaction, limit: number): Promise<void> {
  const { dialect, now, tables } = transaction;
  const rows = await transaction.rows<ExpiredUsage>(sql`
    SELECT x.app_name, x.user_id, x.period, x.shard, x.model FROM ${tables.sharedUsage} x
    WHERE x.expires_at <= ${now} ORDER BY x.expires_at LIMIT ${limit} ${dialect.lockSkipLocked('x')}`);
  for (const some of inBatches(rows, { items: 100 })) {
    const places = some.map(
      (row) => sql`(app_name = ${row.app_name} AND user_id = ${row.user_id} AND period = ${row.period}
        AND shard = ${row.shard} AND model = ${row.model})`,
    );
    await transaction.change(
      sql`DELETE FROM ${tables.sharedUsage} WHERE (${joinSql(places, ' OR ')}) AND expires_at <= ${now}`,
    );
  }
}

interface ExpiredUsage {
  readonly app_name: string;
  readonly user_id: string;
  readonly period: string;
  readonly shard: number;
  readonly model: string;
}
