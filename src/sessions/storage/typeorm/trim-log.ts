import { isAsExpected } from '../../domain/commit-rules.js';
import type { TrimRequest } from '../session-storage.js';
import { findLiveSession } from './session-lookup.js';
import { sql } from './sql.js';
import type { SqlConnection } from './sql-connection.js';
import type { Tables } from './tables.js';

/** Forgets what events said; their ids stay, so that a late repetition is still recognised. */
export async function trimLog(
  connection: SqlConnection,
  tables: Tables,
  { key, newFirstSeq, baseState, ...expected }: TrimRequest,
  now: number,
): Promise<void> {
  const session = await findLiveSession(connection, tables, key, now);
  if (!session || !isAsExpected(session.record, expected)) return;
  await connection.change(sql`
    UPDATE ${tables.sessions} SET first_seq = ${newFirstSeq}, base_state = ${baseState} WHERE pk = ${session.pk}`);
  await connection.change(sql`
    UPDATE ${tables.events} SET payload = NULL
    WHERE session_pk = ${session.pk} AND seq BETWEEN ${expected.firstSeq} AND ${newFirstSeq - 1}`);
}
