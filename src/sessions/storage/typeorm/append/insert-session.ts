import type { MetadataText } from '../../../domain/metadata-entries.js';
import type { SessionRecord } from '../../../domain/session-record.js';
import { ALL_COUNTER_COLUMNS, counterValues } from '../sql/session-rows.js';
import { type Sql, sql } from '../sql/sql.js';
import type { Tables } from '../tables.js';

/** A row of the sessions table. */
export interface NewSession {
  readonly record: SessionRecord;
  readonly baseState: string;
  readonly metadata: MetadataText;
}

/**
 * Inserts a session, whose key the database generates.
 *
 * @param createTime an expression that is the time of creation, or fails
 */
export function insertOfSession(
  { sessions }: Pick<Tables, 'sessions'>,
  { record, baseState, metadata }: NewSession,
  createTime: Sql = sql`${record.createTime}`,
): Sql {
  const { counters, marks } = record;
  return sql`
    INSERT INTO ${sessions} (
      app_name, user_id, session_id, create_time, last_update_time, expires_at,
      first_seq, last_seq, tip_seq, high_water, ${ALL_COUNTER_COLUMNS},
      hidden, view_from_seq, summary_seq, marks_seq, covered, base_state, turns_only, metadata,
      dispatched_seq, waiting_since, state_bytes
    ) VALUES (
      ${record.appName}, ${record.userId}, ${record.sessionId}, ${createTime}, ${record.lastUpdateTime},
      ${record.expiresAt},
      ${record.firstSeq}, ${record.lastSeq}, ${record.tipSeq}, ${record.highWater},
      ${counterValues(counters)},
      ${JSON.stringify(marks.hidden)}, ${marks.viewFromSeq}, ${marks.summarySeq}, ${record.marksSeq},
      ${JSON.stringify(marks.covered)}, ${baseState}, ${record.turnsOnly ? 1 : 0}, ${metadata},
      ${record.dispatchedSeq}, ${record.waitingSince}, ${record.stateBytes}
    )`;
}

/** Ends the INSERT of a session: one with the same ids stays. */
export const UNLESS_THERE = sql`ON CONFLICT (app_name, user_id, session_id) DO NOTHING`;
