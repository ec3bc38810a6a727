import type { MetadataText } from '../../../domain/metadata/metadata-entries.js';
import type { SessionRecord } from '../../../domain/stored/session-record.js';
import type { StateText } from '../../../domain/stored/state-text.js';
import { SESSIONS } from '../schema/session-tables.js';
import { listColumns } from '../schema/table.js';
import { toSessionRow } from '../sql/session-rows.js';
import { Sql, sql, sqlList } from '../sql/sql.js';
import type { Tables } from '../tables.js';

/** A row of the sessions table. */
export interface NewSession {
  readonly record: SessionRecord;
  readonly stamp: number;
  readonly baseState: string;
  readonly metadata: MetadataText;
  /** The state, if it is one text. */
  readonly stateText: StateText | undefined;
}

/**
 * Inserts a session, whose key the database generates.
 *
 * @param createTime an expression that is the time of creation, or fails
 */
export function insertOfSession(
  { sessions }: Pick<Tables, 'sessions'>,
  { record, stamp, baseState, metadata, stateText }: NewSession,
  createTime: Sql = sql`${record.createTime}`,
): Sql {
  const row = { ...toSessionRow({ record, stamp }), base_state: baseState, metadata, state: stateText ?? null };
  return sql`
    INSERT INTO ${sessions} (create_time, ${OTHER_COLUMNS})
    VALUES (${createTime}, ${sqlList(OTHERS.map((name) => row[name]))})`;
}

const OTHERS = listColumns(SESSIONS).flatMap(([name]) => (name === 'pk' || name === 'create_time' ? [] : [name]));
const OTHER_COLUMNS = new Sql(OTHERS.join(', '));

/** Ends the INSERT of a session: one with the same ids stays. */
export const UNLESS_THERE = sql`ON CONFLICT (app_name, user_id, session_id) DO NOTHING`;
