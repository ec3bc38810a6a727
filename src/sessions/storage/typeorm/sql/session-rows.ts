import type { StoredEvent } from '../../../domain/commit.js';
import { COUNTERS, type Counters, countersWith, storedCounters } from '../../../domain/counters.js';
import { isExpired } from '../../../domain/expiry.js';
import type { SessionKey } from '../../../domain/ids.js';
import { type MetadataText, indexChanges, indexEntries } from '../../../domain/metadata-entries.js';
import type { SeqRange } from '../../../domain/seq-ranges.js';
import type { SessionRecord } from '../../../domain/session-record.js';
import { DamagedDataError, storedJson } from '../../../domain/stored-json.js';
import { type EVENTS, SESSIONS } from '../schema/session-tables.js';
import { type RowOf, columnsOf } from '../schema/table.js';
import type { SessionHead } from '../../planned-write.js';
import type { Tables } from '../tables.js';
import type { Dialect } from './dialect.js';
import { minuteColumns, minuteOf } from './minutes.js';
import { joinSql, NO_SQL, Sql, sql, sqlList, type SqlValue } from './sql.js';
import type { SqlTransaction } from './transaction.js';

/** The column of each counter. */
const COUNTER_COLUMNS = {
  turns: 'turns',
  events: 'events',
  contentLength: 'content_length',
  tokens: 'tokens',
} as const satisfies Record<keyof Counters, string>;

/** The columns that every append changes, which all have numbers. */
export function changedColumns(record: SessionRecord): readonly (readonly [column: string, value: number])[] {
  return [
    ['last_seq', record.lastSeq],
    ['tip_seq', record.tipSeq],
    ['high_water', record.highWater],
    ['last_update_time', record.lastUpdateTime],
    ['expires_at', record.expiresAt],
    ...COUNTERS.map((name) => [COUNTER_COLUMNS[name], record.counters[name]] as const),
    ['turn_expires_at', record.turn.expiresAt],
    ['state_bytes', record.stateBytes],
    ...minuteColumns(record),
    ['dispatched_seq', record.dispatchedSeq],
    ['waiting_since', record.waitingSince],
  ];
}

/** The columns that rare writes change besides. */
export function rareColumns(
  before: SessionHead,
  after: SessionHead,
): readonly (readonly [column: string, value: SqlValue])[] {
  const { turn, marks, marksSeq } = after.record;
  const hasNewTurn = turn.number !== before.record.turn.number;
  const hasNewMarks = marksSeq !== before.record.marksSeq;
  const hasNewMetadata = after.metadata !== before.metadata;
  return [
    ...(hasNewTurn
      ? ([
          ['turn_number', turn.number],
          ['turn_token', turn.token],
          ['turn_holder', turn.holder],
          ['turn_request', turn.requestId],
        ] as const)
      : []),
    ...(hasNewMarks
      ? ([
          ['hidden', JSON.stringify(marks.hidden)],
          ['view_from_seq', marks.viewFromSeq],
          ['summary_seq', marks.summarySeq],
          ['covered', JSON.stringify(marks.covered)],
          ['marks_seq', marksSeq],
        ] as const)
      : []),
    ...(hasNewMetadata ? ([['metadata', after.metadata ?? '']] as const) : []),
  ];
}

/** A row of the sessions table, with the columns of {@link RECORD_COLUMNS}. */
export type RecordRow = Omit<RowOf<typeof SESSIONS>, OtherColumn>;

/** Texts that can be large, and what only indexes need. */
const OTHERS = ['base_state', 'metadata', 'update_minute', 'expiry_minute'] as const;
type OtherColumn = (typeof OTHERS)[number];

const RECORD = columnsOf(SESSIONS).filter(([name]) => !OTHERS.some((other) => other === name));

const RECORD_PARTS = RECORD.map(([name]) => new Sql(`s.${name}`));

export const RECORD_COLUMNS = joinSql(RECORD_PARTS, ', ');

/** The columns of a record as one text, for statements that return many. {@link recordOfLines} decodes it. */
export function recordLines({ lines }: Dialect): Sql {
  return lines(RECORD_PARTS);
}

/** No line break is in ids, in numbers, or in JSON text. */
export function recordOfLines(text: string): SessionRecord {
  return recordOf(new RowOfLines(text) as unknown as RecordRow);
}

/** The same for a list: a session of which the texts of the record are damaged is listed without what they say. */
export function listedRecordOf(text: string): { readonly record: SessionRecord; readonly isDamaged: boolean } {
  const row = new RowOfLines(text) as unknown as RecordRow;
  try {
    return { record: recordOf(row), isDamaged: false };
  } catch (error) {
    if (!(error instanceof DamagedDataError)) throw error;
    const texts = { hidden: { value: '[]' }, covered: { value: '{}' } };
    return { record: recordOf(Object.create(row, texts) as RecordRow), isDamaged: true };
  }
}

/** Reads each column from its line when it is needed, since a list has thousands of rows. */
class RowOfLines {
  readonly lines: readonly string[];

  constructor(text: string) {
    this.lines = text.split('\n');
  }
}

for (const [place, [name, { kind }]] of RECORD.entries()) {
  const isText = kind === 'exact' || kind === 'text';
  const get = isText
    ? function (this: RowOfLines) {
        return this.lines[place];
      }
    : function (this: RowOfLines) {
        return Number(this.lines[place]);
      };
  Object.defineProperty(RowOfLines.prototype, name, { get });
}

/** Only in statements that need it, since it can be large. */
export const METADATA_COLUMN = new Sql('s.metadata');

/** A row with the {@link METADATA_COLUMN}. */
export type MetadataRow = Pick<RowOf<typeof SESSIONS>, 'metadata'>;

/** The columns of a record, and another one. */
export function columnsWith(besides: Sql | undefined): Sql {
  return besides ? joinSql([RECORD_COLUMNS, besides], ', ') : RECORD_COLUMNS;
}

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
    counters: countersWith((name) => row[COUNTER_COLUMNS[name]]),
    marks: {
      hidden: row.hidden === '[]' ? [] : (storedJson(row.hidden, 'a session') as SeqRange[]),
      viewFromSeq: row.view_from_seq,
      summarySeq: row.summary_seq,
      covered: storedCounters(storedJson(row.covered, 'a session') as Partial<Counters>),
    },
    marksSeq: row.marks_seq,
    turn: {
      number: row.turn_number,
      token: row.turn_token,
      holder: row.turn_holder,
      requestId: row.turn_request,
      expiresAt: row.turn_expires_at,
    },
    turnsOnly: row.turns_only === 1,
    stateBytes: row.state_bytes,
    dispatchedSeq: row.dispatched_seq,
    waitingSince: row.waiting_since,
  };
}

/** The row of a record, but for its generated key. */
export function rowOf({ counters, marks, turn, ...record }: SessionRecord): NewRow {
  return {
    app_name: record.appName,
    user_id: record.userId,
    session_id: record.sessionId,
    create_time: record.createTime,
    last_update_time: record.lastUpdateTime,
    expires_at: record.expiresAt,
    first_seq: record.firstSeq,
    last_seq: record.lastSeq,
    tip_seq: record.tipSeq,
    high_water: record.highWater,
    turns: counters.turns,
    events: counters.events,
    content_length: counters.contentLength,
    tokens: counters.tokens,
    hidden: JSON.stringify(marks.hidden),
    view_from_seq: marks.viewFromSeq,
    summary_seq: marks.summarySeq,
    covered: JSON.stringify(marks.covered),
    marks_seq: record.marksSeq,
    turn_number: turn.number,
    turn_token: turn.token,
    turn_holder: turn.holder,
    turn_request: turn.requestId,
    turn_expires_at: turn.expiresAt,
    turns_only: record.turnsOnly ? 1 : 0,
    state_bytes: record.stateBytes,
    dispatched_seq: record.dispatchedSeq,
    waiting_since: record.waitingSince,
    update_minute: minuteOf(record.lastUpdateTime),
    expiry_minute: minuteOf(record.expiresAt),
  };
}

/** What planned writes are compared with. */
export function headOf(row: RecordRow & Partial<MetadataRow>): SessionHead {
  return { record: recordOf(row), metadata: row.metadata, stamp: row.stamp };
}

/** The same, with the record as lines. */
export function headOfLines(text: string, metadata: string): SessionHead {
  return headOf(Object.assign(new RowOfLines(text), { metadata }) as unknown as RecordRow & MetadataRow);
}

type NewRow = Omit<RowOf<typeof SESSIONS>, 'pk' | 'stamp' | 'base_state' | 'metadata'>;

/** A row of the events table, with the columns of {@link EVENT_COLUMNS}. */
export type EventRow = Pick<RowOf<typeof EVENTS>, 'seq' | 'event_id' | 'digest' | 'appended_at' | 'payload'>;

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

/** A row of the events table, with the columns of {@link eventLines}. */
export interface EventLinesRow {
  readonly seq: number;
  readonly head: string;
  readonly payload: string | null;
}

/** The columns of an event in fewer columns, for statements that return many. {@link eventOfLines} decodes them. */
export function eventLines(dialect: Dialect): Sql {
  return sql`seq, ${eventHead(dialect)} AS head, payload`;
}

export function eventHead({ lines }: Dialect): Sql {
  return lines([new Sql('appended_at'), new Sql('event_id'), new Sql('digest')]);
}

export function eventOfLines({ seq, head, payload }: EventLinesRow): StoredEvent {
  const [appendedAt, id = '', digest = ''] = head.split('\n');
  return { seq, id, digest, appendedAt: Number(appendedAt), payload };
}

export interface FoundSession {
  readonly pk: number;
  readonly record: SessionRecord;
  readonly stamp: number;
  /** If it was requested. */
  readonly metadata?: string | undefined;
  /** The `seq` after which a window of events begins, if it was requested and is not the beginning of the log. */
  readonly windowStart?: number | undefined;
}

/** Matches the row of a session key. */
export function hasKey({ appName, userId, sessionId }: SessionKey): Sql {
  return sql`app_name = ${appName} AND user_id = ${userId} AND session_id = ${sessionId}`;
}

/** Finds and locks a session, expired or not. */
export async function lockSession(transaction: SqlTransaction, key: SessionKey): Promise<FoundSession | undefined> {
  const { dialect } = transaction;
  return sessionOf(await transaction.lockedRows<RecordRow>(selectSession(transaction, key, dialect.lock('s'))));
}

/** Finds and locks a session that has not expired. */
export async function lockLiveSession(transaction: SqlTransaction, key: SessionKey): Promise<FoundSession | undefined> {
  return unlessExpired(await lockSession(transaction, key), transaction);
}

/** Finds a session that has not expired. `besides` are columns besides those of the record. */
export async function findLiveSession(
  transaction: SqlTransaction,
  key: SessionKey,
  besides: readonly Sql[] = [],
): Promise<FoundSession | undefined> {
  const found = sessionOf(await transaction.rows<FoundRow>(selectSession(transaction, key, NO_SQL, besides)));
  return unlessExpired(found, transaction);
}

function selectSession({ tables }: SqlTransaction, key: SessionKey, lock: Sql, besides: readonly Sql[] = []): Sql {
  return sql`SELECT ${joinSql([RECORD_COLUMNS, ...besides], ', ')} FROM ${tables.sessions} s WHERE ${hasKey(key)} ${lock}`;
}

type FoundRow = RecordRow & Partial<MetadataRow> & { readonly window_start?: number };

function sessionOf([row]: readonly FoundRow[]): FoundSession | undefined {
  if (!row) return undefined;
  const { pk, stamp, metadata, window_start: windowStart } = row;
  return { pk, record: recordOf(row), stamp, metadata, windowStart };
}

function unlessExpired(found: FoundSession | undefined, { now }: SqlTransaction): FoundSession | undefined {
  return found && !isExpired(found.record.expiresAt, now) ? found : undefined;
}

/** A session with its metadata before and after a transaction. */
export interface IndexedSession {
  readonly pk: number;
  readonly record: SessionRecord;
  readonly before: MetadataText;
  readonly after: MetadataText;
}

/** The entries of the index that a change of metadata adds and removes. */
export function entryChanges({
  before,
  after,
}: Pick<IndexedSession, 'before' | 'after'>): ReturnType<typeof indexChanges> {
  return before === after ? NO_CHANGES : indexChanges(indexEntries(before), indexEntries(after));
}

const NO_CHANGES = indexChanges([], []);

/** Statements that make the index of entries agree with the metadata. None if no indexed entry changes. */
export function changeIndex({ sessionIndex }: Tables, { pk, record, before, after }: IndexedSession): Sql[] {
  const { added, removed } = entryChanges({ before, after });
  const rows = added.map(
    (entry) => sql`(${pk}, ${entry}, ${record.appName}, ${record.userId}, ${record.sessionId}, ${record.createTime})`,
  );
  return [
    ...(removed.length > 0
      ? [sql`DELETE FROM ${sessionIndex} WHERE session_pk = ${pk} AND entry IN (${sqlList(removed)})`]
      : []),
    ...(added.length > 0 ? [insertEntries({ sessionIndex }, rows)] : []),
  ];
}

/** Inserts rows with session, entry, ids and time of creation. */
export function insertEntries({ sessionIndex }: Pick<Tables, 'sessionIndex'>, rows: readonly Sql[]): Sql {
  return sql`INSERT INTO ${sessionIndex} (${INDEX_COLUMNS}) VALUES ${joinSql(rows, ', ')}`;
}

export const INDEX_COLUMNS = new Sql('session_pk, entry, app_name, user_id, session_id, create_time');
