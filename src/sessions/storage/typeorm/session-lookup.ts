import { isExpired } from '../../domain/expiry.js';
import type { SessionKey } from '../../domain/ids.js';
import type { SessionRecord } from '../../domain/session-record.js';
import { RECORD_COLUMNS, type RecordRow, recordOf } from './session-rows.js';
import { NO_SQL, type Sql, sql } from './sql.js';
import type { SqlTransaction } from './sql-transaction.js';

export interface FoundSession {
  readonly pk: number;
  readonly record: SessionRecord;
}

/** Matches the one row of a session key. */
export function hasKey({ appName, userId, sessionId }: SessionKey): Sql {
  return sql`app_name = ${appName} AND user_id = ${userId} AND session_id = ${sessionId}`;
}

/** The session of this key, expired or not, for a transaction that goes on to change it. */
export async function lockSession(transaction: SqlTransaction, key: SessionKey): Promise<FoundSession | undefined> {
  const { dialect } = transaction;
  return foundIn(await transaction.lockedRows<RecordRow>(statementFor(transaction, key, dialect.lock('s'))));
}

/** The same, unless it is expired. */
export async function lockLiveSession(transaction: SqlTransaction, key: SessionKey): Promise<FoundSession | undefined> {
  return unlessExpired(await lockSession(transaction, key), transaction);
}

export async function findLiveSession(transaction: SqlTransaction, key: SessionKey): Promise<FoundSession | undefined> {
  const found = foundIn(await transaction.rows<RecordRow>(statementFor(transaction, key, NO_SQL)));
  return unlessExpired(found, transaction);
}

function statementFor({ tables }: SqlTransaction, key: SessionKey, lock: Sql): Sql {
  return sql`SELECT ${RECORD_COLUMNS} FROM ${tables.sessions} s WHERE ${hasKey(key)} ${lock}`;
}

function foundIn([row]: readonly RecordRow[]): FoundSession | undefined {
  return row && { pk: row.pk, record: recordOf(row) };
}

function unlessExpired(found: FoundSession | undefined, { now }: SqlTransaction): FoundSession | undefined {
  return found && !isExpired(found.record.expiresAt, now) ? found : undefined;
}
