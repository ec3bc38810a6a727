import { isExpired } from '../../domain/expiry.js';
import type { SessionKey } from '../../domain/ids.js';
import type { SessionRecord } from '../../domain/session-record.js';
import { RECORD_COLUMNS, type RecordRow, recordOf } from './session-rows.js';
import { type Sql, sql } from './sql.js';
import type { SqlConnection } from './sql-connection.js';
import type { Tables } from './tables.js';

export interface FoundSession {
  readonly pk: number;
  readonly record: SessionRecord;
}

/** Matches the one row of a session key. */
export function hasKey({ appName, userId, sessionId }: SessionKey): Sql {
  return sql`s.app_name = ${appName} AND s.user_id = ${userId} AND s.session_id = ${sessionId}`;
}

/** The session of this key, expired or not. */
export async function findSession(
  connection: SqlConnection,
  { sessions }: Tables,
  key: SessionKey,
): Promise<FoundSession | undefined> {
  const [row] = await connection.rows<RecordRow>(sql`SELECT ${RECORD_COLUMNS} FROM ${sessions} s WHERE ${hasKey(key)}`);
  return row && { pk: row.pk, record: recordOf(row) };
}

export async function findLiveSession(
  connection: SqlConnection,
  tables: Tables,
  key: SessionKey,
  now: number,
): Promise<FoundSession | undefined> {
  const found = await findSession(connection, tables, key);
  return found && !isExpired(found.record.expiresAt, now) ? found : undefined;
}
