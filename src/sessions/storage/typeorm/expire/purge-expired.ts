import { inBatches } from '../../batches.js';
import type { PurgeCounts } from '../../session-storage.js';
import { NO_SQL, type Sql, joinSql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction, Transactions } from '../sql/transaction.js';

/** Limits how long one transaction delays appends. */
const EVENTS_PER_BATCH = 5_000;
/** Sessions to delete in one transaction, with their events. The events of large sessions are deleted before. */
const SESSION_BATCH = {
  items: EVENTS_PER_BATCH,
  weight: EVENTS_PER_BATCH,
  weightOf: (session: ExpiredSession) => (isLarge(session) ? 1 : session.last_seq + 1),
};

interface ExpiredSession {
  readonly pk: number;
  readonly last_seq: number;
}

/**
 * Deletes up to `limit` expired sessions and scopes. It deletes the events of a large session in batches before the
 * session. Processes that purge at the same time skip each other's rows.
 */
export async function purgeExpired(transactions: Transactions, limit: number): Promise<PurgeCounts> {
  const expired = await transactions.write((transaction) => expiredSessions(transaction, limit));
  for (const session of expired.filter(isLarge)) {
    for (let from = 1; from <= session.last_seq; from += EVENTS_PER_BATCH) {
      await transactions.write((transaction) => removeEvents(transaction, session.pk, from));
    }
  }
  let sessions = 0;
  for (const batch of inBatches(expired, SESSION_BATCH)) {
    const pks = batch.map(({ pk }) => pk);
    sessions += await transactions.write((transaction) => removeSessions(transaction, pks));
  }
  await transactions.write((transaction) => removeLeases(transaction, limit));
  await transactions.write((transaction) => removePartials(transaction, limit));
  await transactions.write((transaction) => removeUsage(transaction, limit));
  return {
    sessions,
    userStates: await transactions.write((transaction) => removeScopes(transaction, sql`user_id <> ''`, limit)),
    appStates: await transactions.write((transaction) => removeScopes(transaction, sql`user_id = ''`, limit)),
  };
}

function isLarge({ last_seq: events }: ExpiredSession): boolean {
  return events > EVENTS_PER_BATCH;
}

async function expiredSessions(transaction: SqlTransaction, limit: number): Promise<ExpiredSession[]> {
  const { dialect, tables, now } = transaction;
  const expired = await transaction.rows<ExpiredSession>(sql`
    SELECT s.pk, s.last_seq FROM ${tables.sessions} s
    WHERE s.expires_at <= ${now} ORDER BY s.expires_at LIMIT ${limit} ${dialect.lockSkipLocked('s')}`);
  const large = expired.filter(isLarge).map(({ pk }) => pk);
  // An append that began before the expiry may still be running. It must not find a partly deleted log.
  if (large.length > 0) {
    transaction.addToCommit([sql`UPDATE ${tables.sessions} SET expires_at = 0 WHERE pk IN (${sqlList(large)})`]);
  }
  return expired;
}

async function removeEvents(transaction: SqlTransaction, sessionPk: number, from: number): Promise<void> {
  await transaction.change(sql`
    DELETE FROM ${transaction.tables.events}
    WHERE session_pk = ${sessionPk} AND seq BETWEEN ${from} AND ${from + EVENTS_PER_BATCH - 1}`);
}

/** Foreign keys delete events and state. A session that was renewed in the meantime stays. */
function removeSessions(transaction: SqlTransaction, pks: readonly number[]): Promise<number> {
  const { tables, now } = transaction;
  return transaction.change(sql`DELETE FROM ${tables.sessions} WHERE pk IN (${sqlList(pks)}) AND expires_at <= ${now}`);
}

async function removeScopes(transaction: SqlTransaction, isOfKind: Sql, limit: number): Promise<number> {
  const { sharedScopes } = transaction.tables;
  return removeExpired(transaction, { table: sharedScopes, key: sql`pk`, only: sql`AND ${isOfKind}`, limit });
}

async function removeLeases(transaction: SqlTransaction, limit: number): Promise<void> {
  await removeExpired(transaction, { table: transaction.tables.leases, key: sql`token`, only: NO_SQL, limit });
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

interface ExpiredRows {
  readonly table: Sql;
  readonly key: Sql;
  readonly only: Sql;
  readonly limit: number;
}

async function removeExpired(transaction: SqlTransaction, { table, key, only, limit }: ExpiredRows): Promise<number> {
  const { dialect, now } = transaction;
  const expired = await transaction.rows<{ found: number }>(sql`
    SELECT x.${key} AS found FROM ${table} x
    WHERE x.expires_at <= ${now} ${only} ORDER BY x.expires_at LIMIT ${limit} ${dialect.lockSkipLocked('x')}`);
  if (expired.length === 0) return 0;
  return transaction.change(sql`DELETE FROM ${table} WHERE ${key} IN (${sqlList(expired.map(({ found }) => found))})`);
}
