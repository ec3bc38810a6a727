import type { AppendOutcome, Commit, StoredEvent } from '../../domain/commit.js';
import { recordAfter, refusalOf } from '../../domain/commit-rules.js';
import { type NewEvent, insertsOfEvents, updateOfRecord } from './commit-statements.js';
import { type CommitPlace, type LockedSessions, lockPlaces, rememberSeen } from './commit-places.js';
import { sql } from './sql.js';
import type { SqlTransaction } from './sql-transaction.js';
import { CollectedStateWrites } from './state-writes.js';

/**
 * Appends several commits in one transaction, one after the other as far as anyone can see, in as many
 * round trips as one takes. A commit that is refused leaves the others alone; one whose session is set aside
 * has no outcome.
 */
export async function appendCommits(
  transaction: SqlTransaction,
  commits: readonly Commit[],
  lockedSessions: LockedSessions,
): Promise<readonly (AppendOutcome | undefined)[]> {
  const places = await lockPlaces(transaction, commits, lockedSessions);
  const state = new CollectedStateWrites(transaction);
  const events: NewEvent[] = [];
  const changed = new Set<CommitPlace>();
  const outcomes: (AppendOutcome | undefined)[] = [];
  for (const [index, commit] of commits.entries()) {
    const place = places[index];
    const outcome = await lookedUpOutcome(transaction, commit, place);
    const isAside = !place && transaction.dialect.locksRows && lockedSessions === 'set locked sessions aside';
    outcomes.push(isAside ? undefined : outcome);
    if (outcome.kind !== 'appended' || !place) continue;
    place.take(storedEvent(commit, outcome.record.lastSeq, outcome.now), outcome.record);
    const { lastSeq: seq, highWater } = outcome.record;
    events.push({ ...commit.event, pk: place.pk, seq, appendedAt: transaction.now, highWater });
    state.addCommit(place.pk, commit.key, commit, commit.expiry);
    changed.add(place);
    transaction.announce({ pk: place.pk, lastSeq: seq });
  }
  transaction.finishWith([
    ...[...changed].map((place) => updateOfRecord(transaction.tables, place)),
    ...insertsOfEvents(transaction.tables, events),
    ...(await state.statements()),
  ]);
  return outcomes;
}

/**
 * A repetition is told from a late writer before anything else. PostgreSQL, where a statement had to wait for a
 * lock, shows the session as it is and its events as they were; so before a writer is called late, it is looked again.
 */
async function lookedUpOutcome(
  transaction: SqlTransaction,
  commit: Commit,
  place: CommitPlace | undefined,
): Promise<AppendOutcome> {
  const outcome = outcomeOf(commit, place, transaction.now);
  if (!place || (outcome.kind !== 'stale' && outcome.kind !== 'overtaken')) return outcome;
  await rememberSeen(transaction, place, sql`event_id = ${commit.event.id}`);
  return outcomeOf(commit, place, transaction.now);
}

function outcomeOf(commit: Commit, place: CommitPlace | undefined, now: number): AppendOutcome {
  const refusal = refusalOf(commit, place?.record, place?.seen(commit.event.id), now);
  if (refusal) return refusal;
  if (!place) return { kind: 'missing' };
  const { record } = place;
  return { kind: 'appended', record: recordAfter(commit, record, now), now, previousTipSeq: record.tipSeq };
}

function storedEvent({ event: { id, digest, payload } }: Commit, seq: number, appendedAt: number): StoredEvent {
  return { seq, id, digest, appendedAt, payload };
}
