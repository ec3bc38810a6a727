import { type DispatchMark, NOTHING_WAITS, markTime } from './dispatch-mark.js';
import type { Counters } from './counters.js';
import { InvalidInputError } from './errors.js';
import type { SessionKey } from './ids.js';
import { EMPTY_LOG, type InitialLog } from './initial-log.js';
import { NO_TURN, type StoredTurn } from './turn.js';
import type { ViewMarks } from './view-marks.js';

/** The metadata of a session that a store keeps besides events and state. Its size does not grow with the log. */
export interface SessionRecord extends SessionKey, DispatchMark {
  /** Unique among all sessions that ever had this id. */
  readonly incarnation: string;
  readonly createTime: number;
  /** Time of the newest event that is not a summary, by the store's clock. Never decreases. */
  readonly lastUpdateTime: number;
  readonly expiresAt: number;
  /** The first retained event, or the next `seq` if the log is empty. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** The last event that is not a summary. A writer that does not know it is stale. */
  readonly tipSeq: number;
  /** Latest timestamp or append time in the log. Never decreases. Used to find the beginning of a time window. */
  readonly highWater: number;
  readonly counters: Counters;
  readonly marks: ViewMarks;
  /** The event that set the marks. */
  readonly marksSeq: number;
  readonly turn: StoredTurn;
  /** Whether events need a turn. Set at creation. */
  readonly turnsOnly: boolean;
}

/**
 * The record of a new session, with an empty or an initial log.
 *
 * @example const record = newRecord(key, incarnation, now, expiresAt(now, expiry.session), log);
 */
export function newRecord(
  key: SessionKey,
  incarnation: string,
  now: number,
  expiry: number,
  { events, ...log }: InitialLog = EMPTY_LOG,
  turnsOnly = false,
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
    turn: NO_TURN,
    turnsOnly,
    dispatchedSeq: 0,
    waitingSince: events.length > 0 ? markTime(now) : NOTHING_WAITS,
  };
}

/** Refuses a rewind or fork to a `seq` whose events were trimmed or do not exist yet. */
export function retentionProblem(
  { firstSeq, lastSeq }: SessionRecord,
  toSeq: number,
  path: string,
): InvalidInputError | undefined {
  if (toSeq >= firstSeq - 1 && toSeq <= lastSeq) return undefined;
  return new InvalidInputError(`must lie between ${firstSeq - 1} and ${lastSeq}, the events that are kept`, path);
}
