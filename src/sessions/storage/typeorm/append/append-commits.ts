import { numberedEvents, recordAfter, refusalOf } from '../../../domain/commit-rules.js';
import type { AppendOutcome, Commit } from '../../../domain/commit.js';
import { metadataAfter } from '../../../domain/metadata-entries.js';
import type { SessionRecord } from '../../../domain/session-record.js';
import type { StateExcess } from '../../../domain/state-size.js';
import { inBatches } from '../../../domain/batches.js';
import { endPartials } from '../live/partial-events.js';
import { changedColumns, changeIndex } from '../sql/session-rows.js';
import { NO_SQL, Sql, joinSql, sql, sqlList } from '../sql/sql.js';
import { INSERTED_COLUMNS, type NewEvent, valuesOfEvent } from './direct-write.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { LockedScopes, scopesWritten } from '../state/locked-scopes.js';
import { StateWriter } from '../state/write-state.js';
import { UsageSums, writeUsage } from '../state/write-usage.js';
import type { Tables } from '../tables.js';
import {
  type LockedSession,
  type LockPolicy,
  idsOf,
  loadStoredEvents,
  lockSessions,
  SKIP_LOCKED,
} from './locked-sessions.js';

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
  // After the sessions, as everywhere, so that two transactions cannot wait for each other.
  const found = commits.filter((_, index) => sessions[index]);
  const scopes = await LockedScopes.lock(transaction, found.flatMap(scopesWritten));
  const state = new StateWriter(transaction, scopes);
  const usage = new UsageSums();
  const events: NewEvent[] = [];
  const ended: Sql[] = [];
  const changed = new Set<LockedSession>();
  const outcomes: (AppendOutcome | undefined)[] = [];
  for (const [index, commit] of commits.entries()) {
    const session = sessions[index];
    const outcome = await decideOutcome(transaction, commit, session, scopes, policy);
    const isSkipped = !session && transaction.dialect.locksRows && policy === SKIP_LOCKED;
    outcomes.push(isSkipped ? undefined : outcome);
    if (outcome.kind !== 'appended' || !session) continue;
    const added = numberedEvents(commit, session.record, outcome.now);
    session.apply(commit, added, outcome.record);
    events.push(...added.map((event) => ({ ...event, pk: session.pk })));
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
  'stateFull',
]);

/**
 * After a wait for a lock, PostgreSQL returns the current session row but the events from before the wait. So this
 * reads the events again before it refuses a repeated append, or reports only a part of it as stored.
 */
async function decideOutcome(
  transaction: SqlTransaction,
  commit: Commit,
  session: LockedSession | undefined,
  scopes: LockedScopes,
  { hasOldSnapshot }: LockPolicy,
): Promise<AppendOutcome> {
  const excess = session && (await stateExcessOf(transaction, commit, session, scopes, hasOldSnapshot));
  const outcome = outcomeOf(commit, session, transaction.now, excess);
  if (!session || !mayHaveMissedEvents(outcome)) return outcome;
  const lock = hasOldSnapshot ? transaction.dialect.lock('e') : NO_SQL;
  await loadStoredEvents(transaction, session, sql`event_id IN (${idsOf([commit])}) ${lock}`);
  return outcomeOf(commit, session, transaction.now, excess);
}

/** The first scope that a commit would make too large. */
async function stateExcessOf(
  transaction: SqlTransaction,
  commit: Commit,
  session: LockedSession,
  scopes: LockedScopes,
  hasOldSnapshot: boolean | undefined,
): Promise<StateExcess | undefined> {
  const comparison = { writes: commit, limits: commit.maxStateBytes, hasOldSnapshot };
  return (await session.state.excessOf(transaction, comparison)) ?? scopes.excessOfCommit(commit, hasOldSnapshot);
}

function mayHaveMissedEvents(outcome: AppendOutcome): boolean {
  return outcome.kind === 'seen' ? outcome.events.includes(undefined) : MAY_BE_REPEATED.has(outcome.kind);
}

function outcomeOf(
  commit: Commit,
  session: LockedSession | undefined,
  now: number,
  excess: StateExcess | undefined,
): AppendOutcome {
  const seen = commit.events.map(({ id }) => session?.storedEvent(id));
  const refusal = refusalOf(commit, session?.record, seen, now);
  if (refusal) return refusal;
  if (!session) return { kind: 'missing' };
  if (metadataAfter(session.metadata, commit.metadata ?? []) === undefined) return { kind: 'full' };
  if (excess) return { kind: 'stateFull', excess };
  const { record } = session;
  const after = recordAfter(commit, record, now, session.state.size);
  return { kind: 'appended', record: after, now, previousTipSeq: record.tipSeq };
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
