import { type NumberedEvent, numberedEvents, recordAfter, refusalOf } from '../../../domain/commit-rules.js';
import type { AppendOutcome, Commit, StoredEvent } from '../../../domain/commit.js';
import { sessionNameOf } from '../../../domain/ids.js';
import { metadataAfter } from '../../../domain/metadata-entries.js';
import type { SessionRecord } from '../../../domain/session-record.js';
import { groupBy, inBatches } from '../../../domain/batches.js';
import { endPartials } from '../live/partial-events.js';
import {
  type EventRow,
  type IndexedSession,
  type MetadataRow,
  type RecordRow,
  changedColumns,
  changeIndex,
  columnsWith,
  EVENT_COLUMNS,
  hasKey,
  METADATA_COLUMN,
  recordOf,
  storedEventOf,
} from '../sql/session-rows.js';
import { NO_SQL, Sql, joinSql, sql, sqlList } from '../sql/sql.js';
import { INSERTED_COLUMNS, type NewEvent, valuesOfEvent } from './direct-write.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { StateWriter } from '../state/write-state.js';
import { UsageSums, writeUsage } from '../state/write-usage.js';
import type { Tables } from '../tables.js';

export interface AppendedCommits {
  /** One for each commit. */
  readonly outcomes: readonly (AppendOutcome | undefined)[];
  /** The keys of the shared scopes that were written to, and that do not expire. */
  readonly scopes: ReadonlyMap<string, number>;
}

/**
 * Appends several commits in one transaction with the round trips of one. The result is the same as appending
 * them one by one. A refused commit does not affect the others. A commit to a skipped session has no outcome.
 */
export async function appendCommits(
  transaction: SqlTransaction,
  commits: readonly Commit[],
  policy: LockPolicy,
): Promise<AppendedCommits> {
  const sessions = await lockSessions(transaction, commits, policy);
  const state = new StateWriter(transaction);
  const usage = new UsageSums();
  const events: NewEvent[] = [];
  const ended: Sql[] = [];
  const changed = new Set<LockedSession>();
  const outcomes: (AppendOutcome | undefined)[] = [];
  for (const [index, commit] of commits.entries()) {
    const session = sessions[index];
    const outcome = await decideOutcome(transaction, commit, session, policy);
    const isSkipped = !session && transaction.dialect.locksRows && policy === SKIP_LOCKED;
    outcomes.push(isSkipped ? undefined : outcome);
    if (outcome.kind !== 'appended' || !session) continue;
    const added = numberedEvents(commit, session.record, outcome.now);
    session.apply(added, outcome.record);
    events.push(...added.map((event) => ({ ...event, pk: session.pk })));
    session.changeMetadata(commit);
    ended.push(...endPartials(transaction.tables, session.pk, commit));
    state.addCommit(session.pk, commit.key, commit, commit.expiry);
    if (commit.usage) usage.add(session.pk, commit.key, commit.usage, outcome.now);
    changed.add(session);
    transaction.notify({ pk: session.pk, lastSeq: outcome.record.lastSeq });
    if (session.hasNewDispatchMark) transaction.notifyConsumers('marks');
  }
  transaction.addToCommit([
    ...updateRecords(transaction, [...changed]),
    ...[...changed].flatMap((session) => changeIndex(transaction.tables, session.indexed)),
    ...insertEvents(transaction.tables, events),
    ...ended,
    ...(await state.statements()),
    ...writeUsage(transaction.dialect, transaction.tables, usage.rows()),
  ]);
  return { outcomes, scopes: state.lastingScopes };
}

/** The refusals that do not apply to an event that is stored. */
const MAY_BE_REPEATED: ReadonlySet<AppendOutcome['kind']> = new Set([
  'turnLost',
  'turnRequired',
  'stale',
  'overtaken',
  'full',
]);

/**
 * After a wait for a lock, PostgreSQL returns the current session row but the events from before the wait. So this
 * reads the events again before it refuses a repeated append, or reports only a part of it as stored.
 */
async function decideOutcome(
  transaction: SqlTransaction,
  commit: Commit,
  session: LockedSession | undefined,
  { hasOldSnapshot }: LockPolicy,
): Promise<AppendOutcome> {
  const outcome = outcomeOf(commit, session, transaction.now);
  if (!session || !mayHaveMissedEvents(outcome)) return outcome;
  const lock = hasOldSnapshot ? transaction.dialect.lock('e') : NO_SQL;
  await loadStoredEvents(transaction, session, sql`event_id IN (${idsOf([commit])}) ${lock}`);
  return outcomeOf(commit, session, transaction.now);
}

function mayHaveMissedEvents(outcome: AppendOutcome): boolean {
  return outcome.kind === 'seen' ? outcome.events.includes(undefined) : MAY_BE_REPEATED.has(outcome.kind);
}

function outcomeOf(commit: Commit, session: LockedSession | undefined, now: number): AppendOutcome {
  const seen = commit.events.map(({ id }) => session?.storedEvent(id));
  const refusal = refusalOf(commit, session?.record, seen, now);
  if (refusal) return refusal;
  if (!session) return { kind: 'missing' };
  if (metadataAfter(session.metadata, commit.metadata ?? []) === undefined) return { kind: 'full' };
  const { record } = session;
  return { kind: 'appended', record: recordAfter(commit, record, now), now, previousTipSeq: record.tipSeq };
}

/** A locked session, including the earlier commits of the same transaction. */
class LockedSession {
  readonly #events = new Map<string, StoredEvent>();
  /** Whether a commit changed the marks. They change rarely and can be long. */
  hasNewMarks = false;
  /** Whether the first event since the last dispatch to consumers is among them. */
  hasNewDispatchMark = false;
  /** The metadata before the commits of this transaction. */
  readonly #oldMetadata: string;

  constructor(
    readonly pk: number,
    public record: SessionRecord,
    public metadata: string,
  ) {
    this.#oldMetadata = metadata;
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

  changeMetadata({ metadata: changes = [] }: Commit): void {
    this.metadata = metadataAfter(this.metadata, changes) ?? this.metadata;
  }

  /** Applies a commit, so that the next one sees it. */
  apply(events: readonly NumberedEvent[], record: SessionRecord): void {
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
async function lockSessions(
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

function lockedSession(row: LockedRow): LockedSession {
  return new LockedSession(row.pk, recordOf(row), row.metadata ?? '');
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
  const session = lockedSession(row);
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
    const session = lockedSession(row);
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
async function loadStoredEvents(transaction: SqlTransaction, session: LockedSession, which: Sql): Promise<void> {
  const rows = await transaction.rows<EventRow>(
    sql`SELECT ${EVENT_COLUMNS} FROM ${transaction.tables.events} e WHERE session_pk = ${session.pk} AND ${which}`,
  );
  for (const row of rows) session.addStoredEvent(storedEventOf(row));
}

function idsOf(commits: readonly Commit[]): Sql {
  return sqlList(commits.flatMap(({ events }) => events.map(({ id }) => id)));
}

/** A server limits the number of values and the size of a message. */
const INSERT_LIMITS = { items: 500, weight: 1_000_000, weightOf: ({ payload }: NewEvent) => payload.length };

/** From here on, one statement for all sessions is faster than one for each. */
const UPDATED_TOGETHER = 8;

function updateRecords({ tables, dialect }: SqlTransaction, sessions: readonly LockedSession[]): Sql[] {
  const alike = sessions.filter((session) => !session.hasRareChanges);
  if (!dialect.updateRows || alike.length < UPDATED_TOGETHER) return sessions.map((one) => updateRecord(tables, one));
  const changes = alike.map(({ record }) => changedColumns(record));
  const columns = changes[0]?.map(([column]) => column) ?? [];
  const rows = alike.map(({ pk }, index) => [pk, ...(changes[index]?.map(([, value]) => value) ?? [])]);
  const others = sessions.filter((session) => session.hasRareChanges);
  return [
    dialect.updateRows(tables.sessions, { key: 'pk', columns, rows }),
    ...others.map((session) => updateRecord(tables, session)),
  ];
}

function updateRecord({ sessions }: Tables, session: LockedSession): Sql {
  const { pk, record, hasNewMarks, hasNewMetadata, hasNewDispatchMark, metadata } = session;
  const sets = changedColumns(record).map(([column, value]) => sql`${new Sql(column)} = ${value}`);
  return sql`
    UPDATE ${sessions} SET ${joinSql(sets, ', ')}
      ${hasNewMarks ? setMarks(record) : NO_SQL}
      ${hasNewMetadata ? sql`, metadata = ${metadata}` : NO_SQL}
      ${hasNewDispatchMark ? setDispatchMark(record) : NO_SQL}
    WHERE pk = ${pk}`;
}

function setDispatchMark({ dispatchedSeq, waitingSince }: SessionRecord): Sql {
  return sql`, dispatched_seq = ${dispatchedSeq}, waiting_since = ${waitingSince}`;
}

function setMarks({ marks, marksSeq }: SessionRecord): Sql {
  return sql`, hidden = ${JSON.stringify(marks.hidden)}, view_from_seq = ${marks.viewFromSeq},
      summary_seq = ${marks.summarySeq}, covered = ${JSON.stringify(marks.covered)}, marks_seq = ${marksSeq}`;
}

export function insertEvents({ events: table }: Tables, events: readonly NewEvent[]): Sql[] {
  return inBatches(events, INSERT_LIMITS).map((some) => {
    const rows = some.map((event) => sql`(${sqlList(valuesOfEvent(event))})`);
    return sql`INSERT INTO ${table} (${INSERTED_COLUMNS}) VALUES ${joinSql(rows, ', ')}`;
  });
}
