import { expiresAt, isExpired } from '../../../domain/expiry.js';
import { type SessionRecord, EMPTY_LOG, newRecord, NOTHING_WAITS } from '../../../domain/session-record.js';
import type { CreateRequest, StoredSession } from '../../session-storage.js';
import { ALL_COUNTER_COLUMNS, changeIndex, counterValues, lockSession } from '../sql/session-rows.js';
import { type Sql, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { selectState, type StateRow, stateOf } from '../state/read-state.js';
import { StateWriter } from '../state/write-state.js';
import { insertEvents } from './append-commits.js';

export async function createSession(
  transaction: SqlTransaction,
  { key, baseState, upserts, expiry, metadata = '', log = EMPTY_LOG, turnsOnly }: CreateRequest,
): Promise<StoredSession | undefined> {
  const found = await lockSession(transaction, key);
  const { tables, now } = transaction;
  if (found && !isExpired(found.record.expiresAt, now)) return undefined;
  if (found) await transaction.change(sql`DELETE FROM ${tables.sessions} WHERE pk = ${found.pk}`);

  const blank = newRecord(key, '', now, expiresAt(now, expiry.session), log, turnsOnly);
  const pk = await transaction.insert(insertOfSession(transaction, blank, { baseState, metadata }), 'pk');
  const record = { ...blank, incarnation: String(pk) };
  const events = log.events.map((event, index) => ({ ...event, pk, seq: record.firstSeq + index }));
  for (const statement of insertEvents(tables, events)) await transaction.change(statement);
  if (record.waitingSince !== NOTHING_WAITS) transaction.notifyConsumers('marks');
  const state = new StateWriter(transaction);
  state.addCommit(pk, key, { upserts, removals: [] }, expiry);
  const indexed = changeIndex(tables, { pk, record, before: '', after: metadata });
  transaction.addToCommit([...indexed, ...(await state.statements())]);
  const [rows = []] = await transaction.commitWith([selectState(transaction, { pk, record })]);
  return { record, now, events: [], metadata, ...stateOf(rows as StateRow[]) };
}

function insertOfSession(
  { tables }: SqlTransaction,
  record: SessionRecord,
  { baseState, metadata }: Required<Pick<CreateRequest, 'baseState' | 'metadata'>>,
): Sql {
  const { counters, marks } = record;
  return sql`
    INSERT INTO ${tables.sessions} (
      app_name, user_id, session_id, create_time, last_update_time, expires_at,
      first_seq, last_seq, tip_seq, high_water, ${ALL_COUNTER_COLUMNS},
      hidden, view_from_seq, summary_seq, marks_seq, covered, base_state, turns_only, metadata,
      dispatched_seq, waiting_since
    ) VALUES (
      ${record.appName}, ${record.userId}, ${record.sessionId}, ${record.createTime}, ${record.lastUpdateTime},
      ${record.expiresAt},
      ${record.firstSeq}, ${record.lastSeq}, ${record.tipSeq}, ${record.highWater},
      ${counterValues(counters)},
      ${JSON.stringify(marks.hidden)}, ${marks.viewFromSeq}, ${marks.summarySeq}, ${record.marksSeq},
      ${JSON.stringify(marks.covered)}, ${baseState}, ${record.turnsOnly ? 1 : 0}, ${metadata},
      ${record.dispatchedSeq}, ${record.waitingSince}
    )`;
}
