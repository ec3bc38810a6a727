import type { AppendOutcome, Commit, StoredEvent } from './commit.js';
import { addCounters } from './counters.js';
import { expiresAt, isExpired } from './expiry.js';
import type { SessionRecord } from './session-record.js';
import { ended, turnRefusal } from './turn-rules.js';
import { resolveMarks } from './view-marks.js';

/**
 * Returns why a commit must not be written, or `undefined`. The order of the checks is part of the contract: a retry
 * of a stored event returns that event, even if its precondition no longer holds.
 *
 * @param record the stored session, expired or not
 * @param seen the stored event with the same id, if any
 *
 * @example
 * const refusal = refusalOf(commit, record, eventOfTheSameId, now);
 * if (refusal) return refusal;
 */
export function refusalOf(
  commit: Commit,
  record: SessionRecord | undefined,
  seen: StoredEvent | undefined,
  now: number,
): AppendOutcome | undefined {
  const { incarnation, expectedVersion, ...expected } = commit.preconditions;
  if (!record || isExpired(record.expiresAt, now)) return { kind: 'missing' };
  if (incarnation !== undefined && incarnation !== record.incarnation) return { kind: 'missing' };
  if (seen) return { kind: 'seen', event: seen, record };
  const refusal = turnRefusal(commit, record, now);
  if (refusal) return refusal;
  if (expectedVersion !== undefined && (expectedVersion < record.tipSeq || expectedVersion > record.lastSeq)) {
    return { kind: 'stale', lastSeq: record.lastSeq };
  }
  return isAsExpected(record, expected) ? undefined : { kind: 'overtaken' };
}

/**
 * Whether the session is unchanged since a write was planned.
 *
 * @example
 * async trim({ key, newFirstSeq, baseState, ...expected }: TrimRequest): Promise<void> {
 *   if (!isAsExpected(await this.recordOf(key), expected)) return;
 * }
 */
export function isAsExpected(
  record: SessionRecord,
  expected: Partial<Pick<SessionRecord, 'incarnation' | 'firstSeq' | 'lastSeq' | 'marksSeq'>>,
): boolean {
  const fits = (field: 'incarnation' | 'firstSeq' | 'lastSeq' | 'marksSeq'): boolean =>
    expected[field] === undefined || expected[field] === record[field];
  return fits('incarnation') && fits('firstSeq') && fits('lastSeq') && fits('marksSeq');
}

/**
 * The session's record after an accepted commit.
 *
 * @example const record = recordAfter(commit, before, now); // to be stored with the event, in one go
 */
export function recordAfter(commit: Commit, record: SessionRecord, now: number): SessionRecord {
  const seq = record.lastSeq + 1;
  return {
    ...record,
    lastSeq: seq,
    highWater: Math.max(record.highWater, commit.event.timestamp, now),
    counters: addCounters(record.counters, commit.counterIncrements),
    ...(commit.marks && { marks: resolveMarks(commit.marks, seq), marksSeq: seq }),
    ...(commit.expiry && {
      tipSeq: seq,
      lastUpdateTime: Math.max(record.lastUpdateTime, now),
      expiresAt: expiresAt(now, commit.expiry.session),
    }),
    ...(commit.endsTurn && { turn: ended(record.turn) }),
  };
}
