import { type InitialEvent, type SessionRecord, markAfterAppend } from './session-record.js';
import type { AppendOutcome, Commit, StoredEvent } from './commit.js';
import { addCounters } from './counters.js';
import { expiresAt, isExpired } from './expiry.js';
import { ended, turnRefusal } from './turn-rules.js';
import { resolveMarks } from './view-marks.js';

/**
 * Returns why a commit must not be written, or `undefined`. The order of the checks is part of the contract: a retry
 * of stored events returns those events, even if its precondition no longer holds.
 *
 * @param record the stored session, expired or not
 * @param seen for each event of the commit, the stored event with the same id, if any
 *
 * @example
 * const refusal = refusalOf(commit, record, commit.events.map(({ id }) => storedEvent(id)), now);
 * if (refusal) return refusal;
 */
export function refusalOf(
  commit: Commit,
  record: SessionRecord | undefined,
  seen: readonly (StoredEvent | undefined)[],
  now: number,
): AppendOutcome | undefined {
  const { incarnation, expectedVersion, ...expected } = commit.preconditions;
  if (!record || isExpired(record.expiresAt, now)) return { kind: 'missing' };
  if (incarnation !== undefined && incarnation !== record.incarnation) return { kind: 'missing' };
  if (seen.some((event) => event !== undefined)) return { kind: 'seen', events: seen, record };
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
 * @example const record = recordAfter(commit, before, now); // to be stored with the events, in one go
 */
export function recordAfter(commit: Commit, record: SessionRecord, now: number): SessionRecord {
  const seq = record.lastSeq + commit.events.length;
  return {
    ...record,
    lastSeq: seq,
    highWater: Math.max(record.highWater, now, ...commit.events.map(({ timestamp }) => timestamp)),
    counters: addCounters(record.counters, commit.counterIncrements),
    ...(commit.marks && { marks: resolveMarks(commit.marks, seq), marksSeq: seq }),
    ...(commit.expiry && {
      tipSeq: seq,
      lastUpdateTime: Math.max(record.lastUpdateTime, now),
      expiresAt: expiresAt(now, commit.expiry.session),
    }),
    ...(commit.endsTurn && { turn: ended(record.turn) }),
    ...markAfterAppend(record, now),
  };
}

/** An event with its place in the log, as a store keeps it. */
export interface NumberedEvent extends InitialEvent {
  readonly seq: number;
}

/**
 * The events of an accepted commit, to be added to the log.
 *
 * @param record the session's record before the commit
 * @example for (const event of numberedEvents(commit, before, now)) log.add(event);
 */
export function numberedEvents(
  { events }: Commit,
  { lastSeq, highWater }: SessionRecord,
  now: number,
): NumberedEvent[] {
  let highest = Math.max(highWater, now);
  return events.map((event, index) => {
    highest = Math.max(highest, event.timestamp);
    return { ...event, seq: lastSeq + 1 + index, appendedAt: now, highWater: highest };
  });
}
