import type { AppendOutcome, Commit, StoredEvent } from '../../domain/commit.js';
import { recordAfter, refusalOf } from '../../domain/commit-rules.js';
import type { SessionRecord } from '../../domain/session-record.js';
import { hasKey } from './session-lookup.js';
import {
  EVENT_COLUMNS,
  type EventRow,
  RECORD_COLUMNS,
  type RecordRow,
  recordOf,
  storedEventOf,
} from './session-rows.js';
import { NO_SQL, type Sql, sql } from './sql.js';
import type { SqlConnection } from './sql-connection.js';
import type { Tables } from './tables.js';
import { writeAllScopes } from './write-state.js';

interface SeenRow {
  readonly seen_seq: number | null;
}

export async function appendCommit(
  connection: SqlConnection,
  tables: Tables,
  commit: Commit,
  now: number,
): Promise<AppendOutcome> {
  const [row] = await connection.rows<RecordRow & SeenRow>(sessionAndSeenEvent(tables, commit));
  const record = row && recordOf(row);
  const seen = row?.seen_seq ? await seenEvent(connection, tables, row.pk, commit) : undefined;
  const refusal = refusalOf(commit, record, seen, now);
  if (refusal) return refusal;
  if (!record) return { kind: 'missing' };

  const after = recordAfter(commit, record, now);
  await connection.change(updateOfRecord(tables, row.pk, after, commit));
  await connection.change(insertOfEvent(tables, row.pk, after, commit, now));
  const { upserts, removals, expiry: lifetimes } = commit;
  await writeAllScopes(connection, tables, { pk: row.pk, record }, { upserts, removals, lifetimes, now });
  return { kind: 'appended', record: after, now, previousTipSeq: record.tipSeq };
}

function sessionAndSeenEvent({ sessions, events }: Tables, { key, event }: Commit): Sql {
  return sql`
    SELECT ${RECORD_COLUMNS}, e.seq AS seen_seq
    FROM ${sessions} s LEFT JOIN ${events} e ON e.session_pk = s.pk AND e.event_id = ${event.id}
    WHERE ${hasKey(key)}`;
}

async function seenEvent(
  connection: SqlConnection,
  { events }: Tables,
  pk: number,
  { event }: Commit,
): Promise<StoredEvent | undefined> {
  const [row] = await connection.rows<EventRow>(
    sql`SELECT ${EVENT_COLUMNS} FROM ${events} WHERE session_pk = ${pk} AND event_id = ${event.id}`,
  );
  return row && storedEventOf(row);
}

function updateOfRecord({ sessions }: Tables, pk: number, record: SessionRecord, { marks }: Commit): Sql {
  const { counters } = record;
  return sql`
    UPDATE ${sessions} SET
      last_seq = ${record.lastSeq}, tip_seq = ${record.tipSeq}, high_water = ${record.highWater},
      last_update_time = ${record.lastUpdateTime}, expires_at = ${record.expiresAt},
      turns = ${counters.turns}, events = ${counters.events},
      content_length = ${counters.contentLength}, tokens = ${counters.tokens}
      ${marks ? newMarks(record) : NO_SQL}
    WHERE pk = ${pk}`;
}

function newMarks({ marks, marksSeq }: SessionRecord): Sql {
  return sql`, hidden = ${JSON.stringify(marks.hidden)}, view_from_seq = ${marks.viewFromSeq},
      summary_seq = ${marks.summarySeq}, marks_seq = ${marksSeq}`;
}

function insertOfEvent({ events }: Tables, pk: number, record: SessionRecord, { event }: Commit, now: number): Sql {
  return sql`
    INSERT INTO ${events} (session_pk, seq, event_id, digest, appended_at, high_water, anchor, payload)
    VALUES (
      ${pk}, ${record.lastSeq}, ${event.id}, ${event.digest}, ${now}, ${record.highWater},
      ${event.anchor ? 1 : 0}, ${event.payload}
    )`;
}
