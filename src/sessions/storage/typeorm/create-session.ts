import { expiresAt, isExpired } from '../../domain/expiry.js';
import { newRecord } from '../../domain/session-record.js';
import type { CreateRequest, StoredSession } from '../session-storage.js';
import { findSession } from './session-lookup.js';
import { sql } from './sql.js';
import type { SqlConnection } from './sql-connection.js';
import { readState } from './read-state.js';
import type { Tables } from './tables.js';
import { writeAllScopes } from './write-state.js';

export async function createSession(
  connection: SqlConnection,
  tables: Tables,
  { key, baseState, upserts, expiry }: CreateRequest,
  now: number,
): Promise<StoredSession | undefined> {
  const found = await findSession(connection, tables, key);
  if (found && !isExpired(found.record.expiresAt, now)) return undefined;
  if (found) await connection.change(sql`DELETE FROM ${tables.sessions} WHERE pk = ${found.pk}`);

  const blank = newRecord(key, '', now, expiresAt(now, expiry.session));
  const { counters, marks } = blank;
  const { insertedPk: pk } = await connection.change(sql`
    INSERT INTO ${tables.sessions} (
      app_name, user_id, session_id, create_time, last_update_time, expires_at,
      first_seq, last_seq, tip_seq, high_water, turns, events, content_length, tokens,
      hidden, view_from_seq, summary_seq, marks_seq, base_state
    ) VALUES (
      ${blank.appName}, ${blank.userId}, ${blank.sessionId}, ${now}, ${now}, ${blank.expiresAt},
      ${blank.firstSeq}, ${blank.lastSeq}, ${blank.tipSeq}, ${blank.highWater},
      ${counters.turns}, ${counters.events}, ${counters.contentLength}, ${counters.tokens},
      ${JSON.stringify(marks.hidden)}, ${marks.viewFromSeq}, ${marks.summarySeq}, ${blank.marksSeq}, ${baseState}
    )`);
  const record = { ...blank, incarnation: String(pk) };
  await writeAllScopes(connection, tables, { pk, record }, { upserts, removals: [], lifetimes: expiry, now });
  return { record, now, events: [], ...(await readState(connection, tables, { pk, record }, now)) };
}
