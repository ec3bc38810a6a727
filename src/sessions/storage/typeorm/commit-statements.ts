import type { InitialEvent } from '../../domain/initial-log.js';
import type { SessionRecord } from '../../domain/session-record.js';
import type { CommitPlace } from './commit-places.js';
import { inPortions } from '../portions.js';
import { NO_SQL, type Sql, joinSql, sql } from './sql.js';
import type { Tables } from './tables.js';

/** An event on its way into the log of a session. */
export interface NewEvent extends InitialEvent {
  readonly pk: number;
  readonly seq: number;
}

/** Inserted by one statement: a server takes only so many values, and so much text, in one message. */
const A_STATEMENT = { items: 500, weight: 1_000_000, weightOf: ({ payload }: NewEvent) => payload.length };

export function updateOfRecord({ sessions }: Tables, { pk, record, hasNewMarks }: CommitPlace): Sql {
  const { counters } = record;
  return sql`
    UPDATE ${sessions} SET
      last_seq = ${record.lastSeq}, tip_seq = ${record.tipSeq}, high_water = ${record.highWater},
      last_update_time = ${record.lastUpdateTime}, expires_at = ${record.expiresAt},
      turns = ${counters.turns}, events = ${counters.events},
      content_length = ${counters.contentLength}, tokens = ${counters.tokens}
      ${hasNewMarks ? newMarks(record) : NO_SQL}
    WHERE pk = ${pk}`;
}

function newMarks({ marks, marksSeq }: SessionRecord): Sql {
  return sql`, hidden = ${JSON.stringify(marks.hidden)}, view_from_seq = ${marks.viewFromSeq},
      summary_seq = ${marks.summarySeq}, covered = ${JSON.stringify(marks.covered)}, marks_seq = ${marksSeq}`;
}

export function insertsOfEvents({ events: table }: Tables, events: readonly NewEvent[]): Sql[] {
  return inPortions(events, A_STATEMENT).map((some) => {
    const rows = some.map(
      ({ pk, seq, id, digest, appendedAt, highWater, anchor, payload }) =>
        sql`(${pk}, ${seq}, ${id}, ${digest}, ${appendedAt}, ${highWater}, ${anchor ? 1 : 0}, ${payload})`,
    );
    return sql`
      INSERT INTO ${table} (session_pk, seq, event_id, digest, appended_at, high_water, anchor, payload)
      VALUES ${joinSql(rows, ', ')}`;
  });
}
