import type { StoredEvent } from '../../domain/commit.js';
import type { Counters } from '../../domain/counters.js';
import type { SeqRange } from '../../domain/seq-ranges.js';
import type { SessionRecord } from '../../domain/session-record.js';
import { storedJson } from '../../domain/stored-json.js';
import { Sql } from './sql.js';

/** A row of the table of sessions, as the statements here read it. */
export interface RecordRow {
  readonly pk: number;
  readonly app_name: string;
  readonly user_id: string;
  readonly session_id: string;
  readonly create_time: number;
  readonly last_update_time: number;
  readonly expires_at: number;
  readonly first_seq: number;
  readonly last_seq: number;
  readonly tip_seq: number;
  readonly high_water: number;
  readonly turns: number;
  readonly events: number;
  readonly content_length: number;
  readonly tokens: number;
  readonly hidden: string;
  readonly view_from_seq: number;
  readonly summary_seq: number;
  readonly marks_seq: number;
  readonly covered: string;
}

export const RECORD_COLUMNS = new Sql(
  [
    's.pk, s.app_name, s.user_id, s.session_id, s.create_time, s.last_update_time, s.expires_at',
    's.first_seq, s.last_seq, s.tip_seq, s.high_water, s.turns, s.events, s.content_length, s.tokens',
    's.hidden, s.view_from_seq, s.summary_seq, s.marks_seq, s.covered',
  ].join(', '),
);

export function recordOf(row: RecordRow): SessionRecord {
  return {
    appName: row.app_name,
    userId: row.user_id,
    sessionId: row.session_id,
    incarnation: String(row.pk),
    createTime: row.create_time,
    lastUpdateTime: row.last_update_time,
    expiresAt: row.expires_at,
    firstSeq: row.first_seq,
    lastSeq: row.last_seq,
    tipSeq: row.tip_seq,
    highWater: row.high_water,
    counters: {
      turns: row.turns,
      events: row.events,
      contentLength: row.content_length,
      tokens: row.tokens,
    },
    marks: {
      hidden: storedJson(row.hidden, 'a session') as SeqRange[],
      viewFromSeq: row.view_from_seq,
      summarySeq: row.summary_seq,
      covered: storedJson(row.covered, 'a session') as Counters,
    },
    marksSeq: row.marks_seq,
  };
}

/** A row of the table of events, as the statements here read it. */
export interface EventRow {
  readonly seq: number;
  readonly event_id: string;
  readonly digest: string;
  readonly appended_at: number;
  readonly payload: string | null;
}

export const EVENT_COLUMNS = new Sql('seq, event_id, digest, appended_at, payload');

export function storedEventOf(row: EventRow): StoredEvent {
  return {
    seq: row.seq,
    id: row.event_id,
    digest: row.digest,
    appendedAt: row.appended_at,
    payload: row.payload,
  };
}
