import type { Upsert } from '../../../domain/commit.js';
import type { NumberedEvent } from '../../../domain/session-record.js';
import { payloadChecksum } from '../../../domain/event-digest.js';
import { NEVER } from '../../../domain/expiry.js';
import type { IndexEntry, MetadataText } from '../../../domain/metadata-entries.js';
import type { StateLimits } from '../../../domain/state-size.js';
import type { SessionRecord } from '../../../domain/session-record.js';
import type { StateRow } from '../state/read-state.js';
import { type Entry, SHARED_OWNER, STATE_OWNER, writeEntries } from '../state/write-state.js';
import { type UsageRows, writeUsage } from '../state/write-usage.js';
import type { Tables } from '../tables.js';
import type { Dialect } from '../sql/dialect.js';
import { joinSql, NO_SQL, Sql, sql, sqlList } from '../sql/sql.js';

type Columns = readonly (readonly [column: string, value: number])[];

/** A write to a session whose record is remembered. */
export interface DirectSession {
  readonly pk: number;
  /** The columns that must still have these values. */
  readonly guards: Columns;
  /** The columns to set. */
  readonly sets: Columns;
}

/** What a write adds to a scope. */
export interface DirectScope {
  readonly pk: number;
  readonly bytes: number;
  /** The scope must have at most so many bytes before. */
  readonly room: number;
}

/** An event to insert. */
export interface NewEvent extends NumberedEvent {
  readonly pk: number;
}

/**
 * Appends to sessions whose records are remembered, so that nothing has to be read before. All is written, or nothing: if a
 * session is locked, has changed, or if the server's time is not the expected one.
 */
export interface DirectWrite {
  readonly sessions: readonly DirectSession[];
  readonly events: readonly NewEvent[];
  readonly sessionState: readonly Entry[];
  /** To scopes that never expire. */
  readonly sharedState: readonly Entry[];
  /** These scopes, in the order of their owners. */
  readonly scopes: readonly DirectScope[];
  readonly usage: UsageRows;
  /** The server's time must be between these two. */
  readonly time?: TimeRange | undefined;
}

/** In the server's time. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** The store's time as far as this process knows it. */
export interface Moment {
  readonly now: number;
  /** By how much the store's time may be later when it writes. 0: the clock is not the store's, which is not asked. */
  readonly slackMs: number;
}

/** By how much the store's clock may be behind the moment, for roundings. */
export const AHEAD_MS = 2;

/** When a write that was planned at this moment may be written; `undefined` if the time is not the store's. */
export function timeRange({ now, slackMs }: Moment): TimeRange | undefined {
  return slackMs > 0 ? { from: now - AHEAD_MS, to: now + slackMs } : undefined;
}

/** A session that one message inserts, because nothing has to be read before. */
export interface DirectCreate {
  /** The database generates its incarnation. */
  readonly record: SessionRecord;
  readonly baseState: string;
  readonly metadata: MetadataText;
  /** What the index of metadata gets. */
  readonly entries: readonly IndexEntry[];
  /** State of the session. */
  readonly state: readonly Upsert[];
  /** How large the state of user and app may be to be read. If it is larger, nothing is written. */
  readonly limits: StateLimits | undefined;
  /** The server's time must be between these two. */
  readonly time: TimeRange | undefined;
}

/** What the database answers. */
export interface CreatedRows {
  readonly pk: number;
  /** The state of user and app, also of scopes that have expired. */
  readonly shared: readonly StateRow[];
}

/** The columns of an event with their types in PostgreSQL. */
export const EVENT_COLUMN_TYPES = [
  ['session_pk', 'bigint'],
  ['seq', 'integer'],
  ['event_id', 'text'],
  ['digest', 'text'],
  ['appended_at', 'bigint'],
  ['high_water', 'bigint'],
  ['anchor', 'integer'],
  ['event_group', 'text'],
  ['payload', 'text'],
] as const;

export const INSERTED_COLUMNS = new Sql(EVENT_COLUMN_TYPES.map(([name]) => name).join(', '));

/** In the order of {@link INSERTED_COLUMNS}. */
export function valuesOfEvent(event: NewEvent): (string | number)[] {
  const { pk, seq, id, appendedAt, highWater, anchor, group = '', payload } = event;
  return [pk, seq, id, payloadChecksum(payload), appendedAt, highWater, anchor ? 1 : 0, group, payload];
}

/** `a = 1, b = 2` or `a = 1 AND b = 2`. */
export function equalities(columns: Columns, separator: ', ' | ' AND '): Sql {
  return joinSql(
    columns.map(([column, value]) => sql`${new Sql(column)} = ${value}`),
    separator,
  );
}

/** Adds to the sizes of scopes, which must still exist, never expire, and have room. Changes fewer rows than scopes otherwise. */
export function growScopes({ sharedScopes }: Tables, scopes: readonly DirectScope[], order: Sql = NO_SQL): Sql {
  const byScope = (column: 'bytes' | 'room'): Sql =>
    sql`CASE pk ${joinSql(
      scopes.map((scope) => sql`WHEN ${scope.pk} THEN ${scope[column]}`),
      ' ',
    )} END`;
  return sql`
    UPDATE ${sharedScopes} SET state_bytes = state_bytes + ${byScope('bytes')}
    WHERE pk IN (${sqlList(scopes.map(({ pk }) => pk))}) AND expires_at = ${NEVER} AND state_bytes <= ${byScope('room')}
    ${order}`;
}

/** What follows the events. All transactions write these tables in this order, which prevents deadlocks. */
export function writeStateAndUsage(dialect: Dialect, tables: Tables, write: DirectWrite): Sql[] {
  const { sessionState, sharedState, usage } = write;
  return [
    ...writeEntries(dialect, tables.sessionState, STATE_OWNER, sessionState),
    ...writeEntries(dialect, tables.sharedState, SHARED_OWNER, sharedState),
    ...writeUsage(dialect, tables, usage),
  ];
}
