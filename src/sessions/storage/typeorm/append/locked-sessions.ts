import type { NumberedEvent } from '../../../domain/session-record.js';
import type { Commit, StoredEvent } from '../../../domain/commit.js';
import { sessionNameOf } from '../../../domain/ids.js';
import { metadataAfter } from '../../../domain/metadata-entries.js';
import type { SessionRecord } from '../../../domain/session-record.js';
import { groupBy } from '../../../domain/batches.js';
import {
  type EventRow,
  type IndexedSession,
  type MetadataRow,
  type RecordRow,
  columnsWith,
  EVENT_COLUMNS,
  hasKey,
  METADATA_COLUMN,
  recordOf,
  storedEventOf,
} from '../sql/session-rows.js';
import { NO_SQL, type Sql, joinSql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { SizedState } from '../state/state-sizes.js';
import type { Tables } from '../tables.js';

/** A locked session, including the earlier commits of the same transaction. */
export class LockedSession {
  readonly #events = new Map<string, StoredEvent>();
  /** Whether a commit changed the marks. They change rarely and can be long. */
  hasNewMarks = false;
  /** Whether the first event since the last dispatch to consumers is among them. */
  hasNewDispatchMark = false;
  /** The size of its own state after the commits. */
  readonly state: SizedState;
  /** The metadata before the commits of this transaction. */
  readonly #oldMetadata: string;

  constructor(
    readonly pk: number,
    public record: SessionRecord,
    public metadata: string,
    { sessionState }: Pick<Tables, 'sessionState'>,
  ) {
    this.#oldMetadata = metadata;
    this.state = new SizedState('session', record.stateBytes, {
      table: sessionState,
      owner: sql`session_pk`,
      pk: sql`${pk}`,
    });
  }

  /** Whether a commit changed the metadata. */
  get hasNewMetadata(): boolean {
    return this.metadata !== this.#oldMetadata;
  }

  /** Whether the row changes in more than the columns that every append changes. */
  get hasRareChanges(): boolean {
    return this.hasNewMarks || this.hasNewMetadata || this.hasNewDispatchMark;
  }

  /** The metadata before and after, for the index of entries. */
  get indexed(): IndexedSession {
    return { pk: this.pk, record: this.record, before: this.#oldMetadata, after: this.metadata };
  }

  /** The stored event with this id, if it was loaded. */
  storedEvent(eventId: string): StoredEvent | undefined {
    return this.#events.get(eventId);
  }

  addStoredEvent(event: StoredEvent): void {
    this.#events.set(event.id, event);
  }

  /** Applies a commit, so that the next one sees it. */
  apply(commit: Commit, events: readonly NumberedEvent[], record: SessionRecord): void {
    this.state.add(commit);
    this.metadata = metadataAfter(this.metadata, commit.metadata ?? []) ?? this.metadata;
    this.hasNewMarks ||= record.marksSeq !== this.record.marksSeq;
    this.hasNewDispatchMark ||= record.waitingSince !== this.record.waitingSince;
    this.record = record;
    for (const { seq, id, appendedAt, payload } of events)
      this.addStoredEvent({ seq, id, digest: '', appendedAt, payload });
  }
}

/** How to lock sessions, and to read their events. */
export interface LockPolicy {
  readonly skipsLocked?: boolean;
  /** Whether the transaction may have read before it locked. Then only locking reads return the newest events. */
  readonly hasOldSnapshot?: boolean;
  /** Whether to read the events with locks at once. In MySQL such a read also locks gaps, so that it can cause deadlocks. */
  readonly locksEvents?: boolean;
}

export const WAIT_FOR_LOCKED: LockPolicy = {};
export const SKIP_LOCKED: LockPolicy = { skipsLocked: true };

/**
 * Locks the sessions of these commits in one order and loads those of their events that are already stored.
 * Returns one session per commit, or `undefined` if the session does not exist or was skipped.
 */
export async function lockSessions(
  transaction: SqlTransaction,
  commits: readonly Commit[],
  policy: LockPolicy,
): Promise<readonly (LockedSession | undefined)[]> {
  const bySession = groupBy(commits, ({ key }) => sessionNameOf(key));
  const [only, ...others] = bySession.values();
  if (!only) return [];
  const lock = lockClause(transaction, policy);
  // One statement would read the events before it has waited for the lock.
  const sessions =
    others.length === 0 && !policy.hasOldSnapshot
      ? await lockOneSession(transaction, only, lock(undefined))
      : await lockSeveralSessions(transaction, bySession, lock(sql`s.pk`), policy);
  return commits.map(({ key }) => sessions.get(sessionNameOf(key)));
}

/** With SKIP LOCKED the order does not matter, because a transaction that never waits cannot deadlock. */
function lockClause({ dialect }: SqlTransaction, { skipsLocked }: LockPolicy): (order: Sql | undefined) => Sql {
  return skipsLocked ? () => dialect.lockSkipLocked('s') : (order) => dialect.lock('s', order);
}

type SessionsByName = Map<string, LockedSession>;

type LockedRow = RecordRow & Partial<MetadataRow>;

/** The columns to read of the sessions of these commits. */
function columnsFor(commits: readonly Commit[]): Sql {
  return columnsWith(commits.some(({ metadata }) => metadata) ? METADATA_COLUMN : undefined);
}

function lockedSession(row: LockedRow, tables: Tables): LockedSession {
  return new LockedSession(row.pk, recordOf(row), row.metadata ?? '', tables);
}

/** The usual case: one statement for the session and its events. */
async function lockOneSession(
  transaction: SqlTransaction,
  commits: readonly Commit[],
  lock: Sql,
): Promise<SessionsByName> {
  const { tables } = transaction;
  const sessions: SessionsByName = new Map();
  const [first] = commits;
  if (!first) return sessions;
  const rows = await transaction.lockedRows<LockedRow & { stored_seq: number | null }>(sql`
    SELECT ${columnsFor(commits)}, e.seq AS stored_seq
    FROM ${tables.sessions} s LEFT JOIN ${tables.events} e ON e.session_pk = s.pk AND e.event_id IN (${idsOf(commits)})
    WHERE ${hasKey(first.key)} ${lock}`);
  const [row] = rows;
  if (!row) return sessions;
  const session = lockedSession(row, tables);
  const seqs = rows.flatMap(({ stored_seq: seq }) => (seq === null ? [] : [seq]));
  if (seqs.length > 0) await loadStoredEvents(transaction, session, sql`seq IN (${sqlList(seqs)})`);
  return sessions.set(sessionNameOf(first.key), session);
}

/** Two statements, because databases plan a join over many pairs of session and event badly. */
async function lockSeveralSessions(
  transaction: SqlTransaction,
  bySession: Map<string, Commit[]>,
  lock: Sql,
  { locksEvents }: LockPolicy,
): Promise<SessionsByName> {
  const { tables, dialect, sessionsKey } = transaction;
  const sessions: SessionsByName = new Map();
  const keys = [...bySession.values()].flatMap(([first]) => (first ? [sql`(${hasKey(first.key)})`] : []));
  const rows = await transaction.lockedRows<LockedRow>(sql`
    SELECT ${columnsFor([...bySession.values()].flat())} FROM ${tables.sessions} s ${dialect.forceIndex(sessionsKey)}
    WHERE ${joinSql(keys, ' OR ')} ${lock}`);
  if (rows.length === 0) return sessions;
  const byPk = new Map<number, LockedSession>();
  const storedEvents = rows.map((row) => {
    const session = lockedSession(row, tables);
    byPk.set(row.pk, session);
    sessions.set(sessionNameOf(session.record), session);
    return sql`(session_pk = ${row.pk} AND event_id IN (${idsOf(bySession.get(sessionNameOf(session.record)) ?? [])}))`;
  });
  const found = await transaction.rows<EventRow & { session_pk: number }>(
    sql`SELECT session_pk, ${EVENT_COLUMNS} FROM ${tables.events} e WHERE ${joinSql(storedEvents, ' OR ')}
      ${locksEvents ? dialect.lock('e') : NO_SQL}`,
  );
  for (const row of found) byPk.get(row.session_pk)?.addStoredEvent(storedEventOf(row));
  return sessions;
}

/** Loads the events that match. */
export async function loadStoredEvents(transaction: SqlTransaction, session: LockedSession, which: Sql): Promise<void> {
  const rows = await transaction.rows<EventRow>(
    sql`SELECT ${EVENT_COLUMNS} FROM ${transaction.tables.events} e WHERE session_pk = ${session.pk} AND ${which}`,
  );
  for (const row of rows) session.addStoredEvent(storedEventOf(row));
}

export function idsOf(commits: readonly Commit[]): Sql {
  return sqlList(commits.flatMap(({ events }) => events.map(({ id }) => id)));
}
