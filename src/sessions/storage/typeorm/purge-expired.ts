import type { PurgeCounts } from '../session-storage.js';
import { inPortions } from '../portions.js';
import { NO_SQL, type Sql, sql, sqlList } from './sql.js';
import type { SqlTransaction, Transactions } from './sql-transaction.js';

/** Events removed in one transaction, so that appends get their turn in between. */
const EVENTS_A_BATCH = 5_000;
/** Sessions that go together with their events; those of large ones are gone by then. */
const A_BATCH = {
  items: EVENTS_A_BATCH,
  weight: EVENTS_A_BATCH,
  weightOf: (session: ExpiredSession) => (isLarge(session) ? 1 : session.last_seq + 1),
};

interface ExpiredSession {
  readonly pk: number;
  readonly last_seq: number;
}

/**
 * Removes up to `limit` sessions and scopes that expired. The events of a large session go bit by bit before
 * it. Of several that purge at once, each leaves out what another one has in hand.
 */
export async function purgeExpired(transactions: Transactions, limit: number): Promise<PurgeCounts> {
  const expired = await transactions.write((transaction) => expiredSessions(transaction, limit));
  for (const session of expired.filter(isLarge)) {
    for (let from = 1; from <= session.last_seq; from += EVENTS_A_BATCH) {
      await transactions.write((transaction) => removeEvents(transaction, session.pk, from));
    }
  }
  let sessions = 0;
  for (const batch of inPortions(expired, A_BATCH)) {
    const pks = batch.map(({ pk }) => pk);
    sessions += await transactions.write((transaction) => removeSessions(transaction, pks));
  }
  await transactions.write((transaction) => removeLeases(transaction, limit));
  return {
    sessions,
    userStates: await transactions.write((transaction) => removeScopes(transaction, sql`user_id <> ''`, limit)),
    appStates: await transactions.write((transaction) => removeScopes(transaction, sql`user_id = ''`, limit)),
  };
}

function isLarge({ last_seq: events }: ExpiredSession): boolean {
  return events > EVENTS_A_BATCH;
}

async function expiredSessions(transaction: SqlTransaction, limit: number): Promise<ExpiredSession[]> {
  const { dialect, tables, now } = transaction;
  const expired = await transaction.rows<ExpiredSession>(sql`
    SELECT s.pk, s.last_seq FROM ${tables.sessions} s
    WHERE s.expires_at <= ${now} ORDER BY s.expires_at LIMIT ${limit} ${dialect.lockFree('s')}`);
  const large = expired.filter(isLarge).map(({ pk }) => pk);
  // An append that began before the session expired may still be on its way; it must not meet half a log.
  if (large.length > 0) {
    transaction.finishWith([sql`UPDATE ${tables.sessions} SET expires_at = 0 WHERE pk IN (${sqlList(large)})`]);
  }
  return expired;
}

async function removeEvents(transaction: SqlTransaction, sessionPk: number, from: number): Promise<void> {
  await transaction.change(sql`
    DELETE FROM ${transaction.tables.events}
    WHERE session_pk = ${sessionPk} AND seq BETWEEN ${from} AND ${from + EVENTS_A_BATCH - 1}`);
}

/** Their events and their state go with them. One that was appended to after it was found expired stays. */
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

interface Expirable {
  readonly table: Sql;
  readonly key: Sql;
  readonly only: Sql;
  readonly limit: number;
}

async function removeExpired(transaction: SqlTransaction, { table, key, only, limit }: Expirable): Promise<number> {
  const { dialect, now } = transaction;
  const expired = await transaction.rows<{ found: number }>(sql`
    SELECT x.${key} AS found FROM ${table} x
    WHERE x.expires_at <= ${now} ${only} ORDER BY x.expires_at LIMIT ${limit} ${dialect.lockFree('x')}`);
  if (expired.length === 0) return 0;
  return transaction.change(sql`DELETE FROM ${table} WHERE ${key} IN (${sqlList(expired.map(({ found }) => found))})`);
}
