import type { StoredEvent } from '../../../domain/stored/commit.js';
import { isExpired } from '../../../domain/values/expiry.js';
import type { SessionKey } from '../../../domain/values/ids.js';
import { type MetadataText, indexChanges, indexEntries } from '../../../domain/metadata/metadata-entries.js';
import type { SessionRecord } from '../../../domain/stored/session-record.js';
import type { StateText } from '../../../domain/stored/state-text.js';
import { columnList } from '../schema/column-list.js';
import { type EVENTS, SESSION_INDEX, type SESSIONS } from '../schema/session-tables.js';
import type { RowOf } from '../schema/table.js';
import type { SessionHead } from '../../planned-write.js';
import { Lines, parseRecord, recordText, type RecordText, findRecordStamp } from '../../record-text.js';
import type { Tables } from '../tables.js';
import type { Dialect } from './dialect.js';
import { minuteColumns, minuteOf } from './minutes.js';
import { type Columns, joinSql, NO_SQL, Sql, sql, sqlList, type SqlValue } from './sql.js';
import type { SqlTransaction } from './transaction.js';

/** The key of the row, which is the incarnation. Those of other stores may be any text. */
export function parsePrimaryKey({ incarnation }: Pick<SessionRecord, 'incarnation'>): number {
  return Number(incarnation) || 0;
}

/** The columns that every append changes. */
export function changedColumns({ record, stamp }: Pick<SessionHead, 'record' | 'stamp'>): Columns {
  return [
    ['record', textWithoutKey({ record, stamp })],
    ['last_seq', record.lastSeq],
    ['last_update_time', record.lastUpdateTime],
    ['expires_at', record.expiresAt],
    ['state_bytes', record.stateBytes],
    ['waiting_since', record.waitingSince],
    ...minuteColumns(record),
    ['stamp', stamp],
  ];
}

/** The columns that few writes change. */
const RARE: readonly (readonly [column: string, valueIn: (head: SessionHead) => SqlValue])[] = [
  ['first_seq', ({ record }) => record.firstSeq],
  ['view_from_seq', ({ record }) => record.marks.viewFromSeq],
  ['summary_seq', ({ record }) => record.marks.summarySeq],
  ['metadata', ({ metadata = '' }) => metadata],
];

/** The columns that rare writes change besides. */
export function rareColumns(before: SessionHead, after: SessionHead): Columns {
  const changed = RARE.filter(([, valueIn]) => valueIn(before) !== valueIn(after));
  return changed.map(([column, valueIn]) => [column, valueIn(after)]);
}

/** A row of the sessions table, with the columns of {@link RECORD_COLUMNS}. */
export type RecordRow = Pick<RowOf<typeof SESSIONS>, 'pk' | 'app_name' | 'user_id' | 'session_id' | 'record' | 'state'>;

/** The record, and the state if it is one text. */
export const RECORD_COLUMNS = new Sql('s.app_name, s.user_id, s.session_id, s.pk, s.record, s.state');

/**
 * The record and its key as one text, for statements that return many. {@link headOfLines} decodes it: no line break is in ids, and the key of the row
 * is the first line of a record.
 */
export function recordLines({ lines }: Dialect): Sql {
  return lines(['app_name', 'user_id', 'session_id', 'pk', 'record'].map((name) => new Sql(`s.${name}`)));
}

/** The database generates the key of the row, which is the incarnation, so the stored text lacks it. */
function textWithoutKey(head: Pick<SessionHead, 'record' | 'stamp'>): string {
  const text = recordText(head);
  return text.slice(text.indexOf('\n') + 1);
}

interface KeyedText {
  readonly key: SessionKey;
  readonly text: RecordText;
}

/** The key with which {@link recordLines} begin. The lines of the record follow it. */
export function keyIn(lines: Lines): SessionKey {
  return { appName: lines.word(), userId: lines.word(), sessionId: lines.word() };
}

/** Only in statements that need it, since it can be large. */
export const METADATA_COLUMN = new Sql('s.metadata');

/** A row with the {@link METADATA_COLUMN}. */
export type MetadataRow = Pick<RowOf<typeof SESSIONS>, 'metadata'>;

/** The columns of a record, and another one. */
export function columnsWith(besides: Sql | undefined): Sql {
  return besides ? joinSql([RECORD_COLUMNS, besides], ', ') : RECORD_COLUMNS;
}

function keyedTextOf({ app_name: appName, user_id: userId, session_id: sessionId, pk, record }: RecordRow): KeyedText {
  return { key: { appName, userId, sessionId }, text: `${pk}\n${record}` };
}

export function parseRecordRow(row: RecordRow): SessionRecord {
  const { key, text } = keyedTextOf(row);
  return parseRecord(key, text);
}

/** The row of a new session, but for its generated key. */
export function toSessionRow({ record, stamp }: Pick<SessionHead, 'record' | 'stamp'>): NewRow {
  return {
    app_name: record.appName,
    user_id: record.userId,
    session_id: record.sessionId,
    record: textWithoutKey({ record, stamp }),
    create_time: record.createTime,
    last_update_time: record.lastUpdateTime,
    expires_at: record.expiresAt,
    first_seq: record.firstSeq,
    last_seq: record.lastSeq,
    view_from_seq: record.marks.viewFromSeq,
    summary_seq: record.marks.summarySeq,
    state_bytes: record.stateBytes,
    waiting_since: record.waitingSince,
    stamp,
    update_minute: minuteOf(record.lastUpdateTime),
    expiry_minute: minuteOf(record.expiresAt),
  };
}

/** What planned writes are compared with. */
export function toSessionHead(row: RecordRow & Partial<MetadataRow>): SessionHead {
  return headIn(keyedTextOf(row), row.metadata, row.state);
}

/** The same, with the record as lines. */
export function headOfLines(head: string, metadata: string, state: string | null): SessionHead {
  const lines = new Lines(head);
  return headIn({ key: keyIn(lines), text: lines.rest }, metadata, state);
}

function headIn({ key, text }: KeyedText, metadata: string | undefined, state: string | null): SessionHead {
  const record = parseRecord(key, text);
  return { record, metadata, state: state ?? undefined, stamp: findRecordStamp(record) };
}

type NewRow = Omit<RowOf<typeof SESSIONS>, 'pk' | 'base_state' | 'metadata' | 'state'>;

/** A row of the events table, with the columns of {@link EVENT_COLUMNS}. */
export type EventRow = Pick<RowOf<typeof EVENTS>, 'seq' | 'event_id' | 'digest' | 'appended_at' | 'payload'>;

export const EVENT_COLUMNS = new Sql('seq, event_id, digest, appended_at, payload');

export function toStoredEvent(row: EventRow): StoredEvent {
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
  const lines = new Lines(head);
  const appendedAt = lines.number();
  return { seq, id: lines.word(), digest: lines.word(), appendedAt, payload };
}

export interface FoundSession {
  readonly pk: number;
  readonly record: SessionRecord;
  readonly stamp: number;
  /** Its own state, unless that has rows. */
  readonly state: StateText | undefined;
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
  return toFoundSession(await transaction.lockedRows<RecordRow>(selectSession(transaction, key, dialect.lock('s'))));
}

/** Finds a session that has not expired. `besides` are columns besides those of the record. */
export async function findLiveSession(
  transaction: SqlTransaction,
  key: SessionKey,
  besides: readonly Sql[] = [],
): Promise<FoundSession | undefined> {
  const found = toFoundSession(await transaction.rows<FoundRow>(selectSession(transaction, key, NO_SQL, besides)));
  return found && !isExpired(found.record.expiresAt, transaction.now) ? found : undefined;
}

function selectSession({ tables }: SqlTransaction, key: SessionKey, lock: Sql, besides: readonly Sql[] = []): Sql {
  return sql`SELECT ${joinSql([RECORD_COLUMNS, ...besides], ', ')} FROM ${tables.sessions} s WHERE ${hasKey(key)} ${lock}`;
}

type FoundRow = RecordRow & Partial<MetadataRow> & { readonly window_start?: number };

function toFoundSession([row]: readonly FoundRow[]): FoundSession | undefined {
  if (!row) return undefined;
  return { pk: row.pk, ...toSessionHead(row), windowStart: row.window_start };
}

/** A session with its metadata before and after a transaction. */
export interface IndexedSession {
  readonly pk: number;
  readonly record: SessionKey & Pick<SessionRecord, 'createTime'>;
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
  return sql`INSERT INTO ${sessionIndex} (${INDEX_COLUMNS.names}) VALUES ${joinSql(rows, ', ')}`;
}

export const INDEX_COLUMNS = columnList(SESSION_INDEX);

/** Whether the metadata of the session has all of these entries, by the index. */
export function hasAllEntries(
  { sessionIndex }: Pick<Tables, 'sessionIndex'>,
  pk: Sql,
  entries: readonly string[],
): Sql {
  return sql`(
    SELECT COUNT(*) FROM ${sessionIndex} o WHERE o.session_pk = ${pk} AND o.entry IN (${sqlList(entries)})
  ) = ${entries.length}`;
}
