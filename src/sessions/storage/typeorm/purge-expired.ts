import type { PurgeCounts } from '../session-storage.js';
import { type Sql, sql, sqlList } from './sql.js';
import type { SqlConnection } from './sql-connection.js';
import type { Tables } from './tables.js';

/** Rows of events removed in one transaction, so that appends get their turn in between. */
const EVENTS_A_BATCH = 5_000;

/** Runs a piece of work in a write transaction of its own. */
type InTransaction = <Result>(work: (connection: SqlConnection, now: number) => Promise<Result>) => Promise<Result>;

/**
 * Removes up to `limit` sessions and scopes that expired. What expired is invisible and never comes back,
 * so its events can go bit by bit before it.
 */
export async function purgeExpired(write: InTransaction, tables: Tables, limit: number): Promise<PurgeCounts> {
  const expired = await write((connection, now) => expiredSessions(connection, tables, limit, now));
  if (expired.length > 0) {
    let removed: number;
    do {
      removed = await write((connection, now) => removeSomeEvents(connection, tables, expired, now));
    } while (removed === EVENTS_A_BATCH);
  }
  return write(async (connection, now) => ({
    sessions: expired.length === 0 ? 0 : await removeSessions(connection, tables, expired, now),
    userStates: await removeScopes(connection, tables, sql`user_id <> ''`, limit, now),
    appStates: await removeScopes(connection, tables, sql`user_id = ''`, limit, now),
  }));
}

async function expiredSessions(
  connection: SqlConnection,
  { sessions }: Tables,
  limit: number,
  now: number,
): Promise<number[]> {
  const rows = await connection.rows<{ pk: number }>(
    sql`SELECT pk FROM ${sessions} WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${limit}`,
  );
  return rows.map(({ pk }) => pk);
}

async function removeSomeEvents(
  connection: SqlConnection,
  { events, sessions }: Tables,
  sessionPks: readonly number[],
  now: number,
): Promise<number> {
  const { rows } = await connection.change(sql`
    DELETE FROM ${events} WHERE (session_pk, seq) IN (
      SELECT session_pk, seq FROM ${events} WHERE session_pk IN (
        SELECT pk FROM ${sessions} WHERE pk IN (${sqlList(sessionPks)}) AND expires_at <= ${now}
      ) LIMIT ${EVENTS_A_BATCH}
    )`);
  return rows;
}

async function removeSessions(
  connection: SqlConnection,
  { sessions }: Tables,
  pks: readonly number[],
  now: number,
): Promise<number> {
  const { rows } = await connection.change(
    sql`DELETE FROM ${sessions} WHERE pk IN (${sqlList(pks)}) AND expires_at <= ${now}`,
  );
  return rows;
}

async function removeScopes(
  connection: SqlConnection,
  { sharedScopes }: Tables,
  ofKind: Sql,
  limit: number,
  now: number,
): Promise<number> {
  const { rows } = await connection.change(sql`
    DELETE FROM ${sharedScopes} WHERE pk IN (
      SELECT pk FROM ${sharedScopes} WHERE expires_at <= ${now} AND ${ofKind} ORDER BY expires_at LIMIT ${limit}
    )`);
  return rows;
}
