import { addCounters } from './counters.js';
import type { AppendOutcome, Commit, StoredEvent } from './commit.js';
import { expiresAt, isExpired } from './expiry.js';
import { resolveMarks } from './marks.js';
import type { SessionRecord } from './session-record.js';

/**
 * Why a commit must not be written, if it must not. The order is part of the contract: a retry of an event
 * that is stored gets it back even where its precondition no longer holds.
 *
 * @param record the session as it is, expired or not
 * @param seen the event of the same id that the session holds, if any
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
  if (expectedVersion !== undefined && (expectedVersion < record.tipSeq || expectedVersion > record.lastSeq)) {
    return { kind: 'stale', lastSeq: record.lastSeq };
  }
  return isAsExpected(record, expected) ? undefined : { kind: 'overtaken' };
}

/**
 * Whether the session still stands as it stood when something was planned.
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
 * The session after a commit that was not refused.
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
  };
}
