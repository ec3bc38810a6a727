import { type NumberedEvent, type SessionRecord, markAfterAppend } from '../stored/session-record.js';
import type { AppendOutcome, Commit, Preconditions, StoredEvent } from '../stored/commit.js';
import { addCounters } from '../stored/counters.js';
import { expiresAt, isExpired } from '../values/expiry.js';
import { KeptEvent } from '../stored/kept-event.js';
import { bytesAfter } from '../stored/state-size.js';
import { ended, turnRefusal } from './turn-rules.js';
import { sessionUsageAfter } from '../usage/usage.js';
import { resolveMarks } from '../stored/view-marks.js';

/**
 * Returns why a commit must not be written, or `undefined`. The order of the checks is part of the contract: a retry
 * of stored events returns those events, even if its precondition no longer holds.
 *
 * @param record the stored session, expired or not
 * @param seen for each event of the commit, the stored event with the same id, if any
 *
 * @example
 * const refusal = findCommitRefusal(commit, record, commit.events.map(({ id }) => storedEvent(id)), now);
 * if (refusal) return refusal;
 */
export function findCommitRefusal(
  commit: Commit,
  record: SessionRecord | undefined,
  seen: readonly (StoredEvent | undefined)[],
  now: number,
): AppendOutcome | undefined {
  const { incarnation, expectedVersion, lastSeq, firstSeq, marksSeq, knownSeq = 0 } = commit.preconditions;
  if (!record || isExpired(record.expiresAt, now)) return { kind: 'missing' };
  if (incarnation !== undefined && incarnation !== record.incarnation) return { kind: 'missing' };
  if (seen.some(isThere)) return { kind: 'seen', events: seen, record };
  const refusal = turnRefusal(commit, record, now);
  if (refusal) return refusal;
  if (isStale(record, expectedVersion)) return { kind: 'stale', lastSeq: record.lastSeq };
  if (knownSeq > record.lastSeq) return { kind: 'unknownEvent' };
  return isAsExpected(record, { lastSeq, firstSeq, marksSeq }) ? undefined : { kind: 'overtaken' };
}

/** Summaries make no writer stale. */
function isStale({ tipSeq, lastSeq }: SessionRecord, expectedVersion: number | undefined): boolean {
  return expectedVersion !== undefined && (expectedVersion < tipSeq || expectedVersion > lastSeq);
}

/**
 * Whether the session is there, and as the caller of a deletion knows it.
 *
 * @param record the stored session, expired or not
 *
 * @example
 * async delete(request: DeleteRequest): Promise<void> {
 *   if (isDeletable(this.recordOf(request), request)) this.remove(request);
 * }
 */
export function isDeletable(
  record: SessionRecord | undefined,
  { incarnation, expectedVersion, lastSeq }: Pick<Preconditions, 'incarnation' | 'expectedVersion' | 'lastSeq'>,
): record is SessionRecord {
  return record !== undefined && isAsExpected(record, { incarnation, lastSeq }) && !isStale(record, expectedVersion);
}

function isThere(event: StoredEvent | undefined): boolean {
  return event !== undefined;
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
  const { incarnation, firstSeq, lastSeq, marksSeq } = expected;
  return (
    isAsked(incarnation, record.incarnation) &&
    isAsked(firstSeq, record.firstSeq) &&
    isAsked(lastSeq, record.lastSeq) &&
    isAsked(marksSeq, record.marksSeq)
  );
}

function isAsked<Value>(expected: Value | undefined, actual: Value): boolean {
  return expected === undefined || expected === actual;
}

/**
 * The session's record after an accepted commit.
 *
 * @param stateBytes of the session's own state after the commit, if they were counted
 * @example const record = recordAfter(commit, before, now); // to be stored with the events, in one go
 */
export function recordAfter(
  commit: Commit,
  record: SessionRecord,
  now: number,
  stateBytes = bytesAfter({ atMost: record.stateBytes }, commit, 'session'),
): SessionRecord {
  const seq = record.lastSeq + commit.events.length;
  const { marks, expiry } = commit;
  const { dispatchedSeq, waitingSince } = markAfterAppend(record, now);
  // Each field by name, since a copy that is changed afterwards takes several times as long.
  return {
    appName: record.appName,
    userId: record.userId,
    sessionId: record.sessionId,
    incarnation: record.incarnation,
    createTime: record.createTime,
    firstSeq: record.firstSeq,
    turnsOnly: record.turnsOnly,
    stateBytes,
    usage: sessionUsageAfter(record.usage, commit.usage?.models),
    lastSeq: seq,
    highWater: highWaterAfter(commit.events, record, now),
    counters: addCounters(record.counters, commit.counterIncrements),
    marks: marks ? resolveMarks(marks, record.lastSeq + 1) : record.marks,
    marksSeq: marks ? record.lastSeq + 1 : record.marksSeq,
    tipSeq: expiry ? seq : record.tipSeq,
    lastUpdateTime: expiry ? Math.max(record.lastUpdateTime, now) : record.lastUpdateTime,
    expiresAt: expiry ? expiresAt(now, expiry.session) : record.expiresAt,
    turn: commit.endsTurn ? ended(record.turn) : record.turn,
    dispatchedSeq,
    waitingSince,
  } satisfies Required<SessionRecord>;
}

function highWaterAfter(events: Commit['events'], record: SessionRecord, now: number): number {
  let highest = latestOf(record, now);
  for (const { timestamp } of events) highest = Math.max(highest, timestamp);
  return highest;
}

function latestOf({ highWater }: Pick<SessionRecord, 'highWater'>, now: number): number {
  return Math.max(highWater, now);
}

/**
 * The events of an accepted commit, to be added to the log.
 *
 * @param record the session's record before the commit
 * @example for (const event of numberedEvents(commit, before, now)) log.add(event);
 */
export function numberedEvents({ events }: Commit, record: SessionRecord, now: number): NumberedEvent[] {
  let highest = latestOf(record, now);
  return events.map((event, index) => {
    const seq = record.lastSeq + 1 + index;
    highest = Math.max(highest, event.timestamp);
    if (event instanceof KeptEvent) return event.place(seq, now, highest);
    const { id, timestamp, anchor, group, payload } = event;
    return { id, timestamp, anchor, group, payload, seq, appendedAt: now, highWater: highest };
  });
}
