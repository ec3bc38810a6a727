import type { Counters } from './counters.js';
import type { SessionKey } from './ids.js';
import { EMPTY_LOG, type InitialLog } from './initial-log.js';
import type { Marks } from './marks.js';

/** What a store keeps of a session besides its events and its state: a fixed handful of numbers and marks. */
export interface SessionRecord extends SessionKey {
  /** Differs for every session that ever had this id. */
  readonly incarnation: string;
  readonly createTime: number;
  /** Time of the newest event that is no summary, by the store's clock; never falls. */
  readonly lastUpdateTime: number;
  readonly expiresAt: number;
  /** First event that is kept, or the next one where none is. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** The last event that is no summary: what makes a writer stale. */
  readonly tipSeq: number;
  /** Latest time in the log, of timestamps and appends alike; never falls. Finds where a time window begins. */
  readonly highWater: number;
  readonly counters: Counters;
  readonly marks: Marks;
  /** The event that set the marks. */
  readonly marksSeq: number;
}

/**
 * A session that was just created: empty, or with a log to begin with.
 *
 * @example const record = newRecord(key, incarnation, now, expiresAt(now, expiry.session), log);
 */
export function newRecord(
  key: SessionKey,
  incarnation: string,
  now: number,
  expiry: number,
  { events, ...log }: InitialLog = EMPTY_LOG,
): SessionRecord {
  return {
    appName: key.appName,
    userId: key.userId,
    sessionId: key.sessionId,
    incarnation,
    createTime: now,
    lastUpdateTime: now,
    expiresAt: expiry,
    firstSeq: 1,
    lastSeq: events.length,
    tipSeq: log.tipSeq,
    highWater: events.at(-1)?.highWater ?? 0,
    counters: log.counters,
    marks: log.marks,
    marksSeq: log.marksSeq,
  };
}
