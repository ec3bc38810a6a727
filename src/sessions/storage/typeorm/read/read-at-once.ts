import type { StoredEvent } from '../../../domain/stored/commit.js';
import { isExpired } from '../../../domain/values/expiry.js';
import type { SessionKey } from '../../../domain/values/ids.js';
import type { EventWindow, ReadRequest, StoredSession } from '../../session-storage.js';
import type { StampedSession } from '../../session-store.js';
import {
  eventLines,
  eventOfLines,
  hasKey,
  headOfLines,
  METADATA_COLUMN,
  RECORD_COLUMNS,
  recordLines,
} from '../sql/session-rows.js';
import { joinSql, NO_SQL, Sql, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { type StateRow, type StateSource, selectScopes, parseStateRows } from '../state/read-state.js';
import { TOO_LARGE, isReadable, isTooLarge, limitText, sumOfState } from '../state/state-sizes.js';
import { boundedWindow, isOver, outermostFitting } from './event-window.js';

/** What a row is. */
const PART = { record: 0, event: 1, summary: 2, session: 3, user: 4, app: 5, text: 6 } as const;

/** Of a record, the lines and the metadata; of state that is one text, that; of an event, the head and the payload; of state, the expiry of the scope, name and value. */
interface PartRow {
  readonly part: number;
  readonly number: number;
  readonly head: string;
  readonly body: string | null;
}

/** Whether one statement can read all of it: the newest events at most, without a look at their times. */
export function isReadAtOnce({ window, find, withBase, checkpointAt }: ReadRequest): boolean {
  return !find && !withBase && checkpointAt === undefined && (window === undefined || isTail(window));
}

function isTail({ limit, ranges, since, maxAgeMs, anchorsOnly, keep }: EventWindow): boolean {
  const isFiltered = (since ?? 0) > 0 || maxAgeMs !== undefined || anchorsOnly === true;
  return limit !== undefined && ranges === undefined && keep !== 'oldest' && !isFiltered;
}

/** Reads a session with one message, since one statement needs no record to know what to read. */
export async function readAtOnce(
  transaction: SqlTransaction,
  request: ReadRequest,
): Promise<StampedSession | undefined> {
  const window = request.window && boundedWindow(request.window);
  const [found = []] = await transaction.commitWith([selectParts(transaction, request, window)]);
  const rows = found as PartRow[];
  const { now } = transaction;
  const lines = rows.find(({ part }) => part === PART.record);
  if (!lines) return undefined;
  const text = rows.find(({ part }) => part === PART.text)?.body ?? null;
  const { record, state, stamp } = headOfLines(lines.head, lines.body ?? '', text);
  if (isExpired(record.expiresAt, now)) return undefined;
  const events = parseEventRows(rows, PART.event).sort((a, b) => a.seq - b.seq);
  const isCut = isOver(events, window?.maxBytes);
  const [summary] = parseEventRows(rows, PART.summary);
  const session: StoredSession = {
    record,
    now,
    events,
    ...(isCut && { isCut }),
    ...(request.withState &&
      parseStateRows(stateRows(rows, now), record, { limits: request.maxStateBytes, text: state })),
    ...(summary && { summary }),
    ...(request.withMetadata && { metadata: lines.body ?? '' }),
  };
  return { session, stamp, stateText: state };
}

function parseEventRows(rows: readonly PartRow[], wanted: number): StoredEvent[] {
  return rows
    .filter(({ part }) => part === wanted)
    .map(({ number: seq, head, body: payload }) => eventOfLines({ seq, head, payload }));
}

const SCOPES = new Map<number, StateRow['scope']>([
  [PART.session, 'session'],
  [PART.user, 'user'],
  [PART.app, 'app'],
]);

function stateRows(rows: readonly PartRow[], now: number): StateRow[] {
  return rows.flatMap(({ part, number: expiry, head: name, body: value }) => {
    const scope = SCOPES.get(part);
    const isLive = scope === 'session' || !isExpired(expiry, now);
    return scope && isLive ? [{ scope, name, value, expires_at: expiry }] : [];
  });
}

/** All parts, in one statement, which sees one snapshot. */
function selectParts(transaction: SqlTransaction, request: ReadRequest, window: EventWindow | undefined): Sql {
  const { tables, dialect } = transaction;
  const { key, withState, withSummary, withMetadata } = request;
  const metadata = withMetadata ? METADATA_COLUMN : sql`NULL`;
  const branches = [
    sql`SELECT ${toReadPartNumber('record')} AS part, 0 AS number, ${recordLines(dialect)} AS head, ${metadata} AS body FROM s`,
    sql`SELECT ${toReadPartNumber('text')}, 0, '', s.state FROM s`,
    ...(window ? [sql`(${selectTail(transaction, window)})`] : []),
    ...(withSummary ? [selectSummary(transaction)] : []),
    ...(withState ? selectStates({ tables, dialect, limits: request.maxStateBytes }, key) : []),
  ];
  return sql`
    WITH s AS (
      SELECT ${RECORD_COLUMNS}, ${METADATA_COLUMN}, first_seq, last_seq, view_from_seq, summary_seq, state_bytes
      FROM ${tables.sessions} s WHERE ${hasKey(key)}
    )
    ${joinSql(branches, ' UNION ALL ')}`;
}

function toReadPartNumber(name: keyof typeof PART): Sql {
  return new Sql(String(PART[name]));
}

const OF_SESSION = sql`session_pk = (SELECT pk FROM s)`;

/** Scalar subqueries, because a planner would sort the whole log after a join. */
function selectTail({ tables, dialect }: SqlTransaction, { afterSeq, inView, limit = 0, maxBytes }: EventWindow): Sql {
  const range = sql`
    ${OF_SESSION} AND seq >= (SELECT first_seq FROM s) AND seq <= (SELECT last_seq FROM s)
    ${inView ? sql`AND seq > (SELECT view_from_seq FROM s)` : NO_SQL} ${afterSeq ? sql`AND seq > ${afterSeq}` : NO_SQL}`;
  const isFitting =
    maxBytes === undefined
      ? NO_SQL
      : sql`AND seq >= (${outermostFitting({ tables, dialect }, { range, limit, maxBytes })})`;
  return sql`
    SELECT ${toReadPartNumber('event')}, ${eventLines(dialect)} FROM ${tables.events} WHERE ${range} ${isFitting}
    ORDER BY seq DESC LIMIT ${limit}`;
}

/** The summary is also read if it stands below the tail. */
function selectSummary({ tables, dialect }: SqlTransaction): Sql {
  return sql`
    SELECT ${toReadPartNumber('summary')}, ${eventLines(dialect)} FROM ${tables.events}
    WHERE ${OF_SESSION} AND seq = (SELECT summary_seq FROM s)`;
}

/** Whoever reads the rows leaves out scopes that have expired. */
function selectStates(source: StateSource, { appName, userId }: SessionKey): Sql[] {
  const part = sql`CASE c.user_id WHEN '' THEN ${toReadPartNumber('app')} ELSE ${toReadPartNumber('user')} END`;
  const shared = selectScopes(source, sql`c.app_name = ${appName} AND c.user_id IN ('', ${userId})`, {
    entry: sql`${part}, c.expires_at, v.name, v.value`,
    tooLarge: (bytes) => sql`${part}, c.expires_at, '${new Sql(TOO_LARGE)}', ${bytes}`,
  });
  return [...selectOwnState(source), shared];
}

/** The session's own state, or its size if it is too large. */
function selectOwnState({ tables: { sessionState }, dialect, limits }: StateSource): Sql[] {
  const all = sql`SELECT ${toReadPartNumber('session')}, 0, name, value FROM ${sessionState} WHERE ${OF_SESSION}`;
  if (!limits) return [all];
  const limit = {
    most: limitText(limits.session),
    stored: sql`(SELECT state_bytes FROM s)`,
    sum: sumOfState(dialect, { table: sessionState, owner: sql`session_pk`, pk: sql`(SELECT pk FROM s)` }),
  };
  return [
    sql`${all} AND ${isReadable(limit)}`,
    sql`
      SELECT ${toReadPartNumber('session')}, 0, '${new Sql(TOO_LARGE)}', ${dialect.lines([limit.sum])} FROM s
      WHERE ${isTooLarge(limit)}`,
  ];
}
