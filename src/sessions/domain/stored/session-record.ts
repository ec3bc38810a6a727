import { type Counters, NO_COUNTS } from './counters.js';
import { InvalidInputError } from '../errors/errors.js';
import { NEVER } from '../values/expiry.js';
import type { SessionKey } from '../values/ids.js';
import { type StoredTurn, NO_TURN } from './turn.js';
import { type ModelUsage, sessionUsageAfter } from '../usage/usage.js';
import { type ViewMarks, NO_MARKS } from './view-marks.js';

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
  /** The event that set the marks: a summary or a rewind, or a redaction, which sets them to what they were. */
  readonly marksSeq: number;
  readonly turn: StoredTurn;
  /** Whether events need a turn. Set at creation. */
  readonly turnsOnly: boolean;
  /** The session's own state has at most this many bytes: see `StateSize`. */
  readonly stateBytes: number;
  /** Tokens by model, sorted by its name. Those of users and apps are sums of their own. */
  readonly usage: readonly ModelUsage[];
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
  { events, origin, ...log }: InitialLog = EMPTY_LOG,
  turnsOnly = false,
  stateBytes = 0,
): SessionRecord {
  const firstSeq = origin?.firstSeq ?? 1;
  return {
    appName: key.appName,
    userId: key.userId,
    sessionId: key.sessionId,
    incarnation,
    createTime: origin?.createTime ?? now,
    lastUpdateTime: origin?.lastUpdateTime ?? now,
    expiresAt: origin?.expiresAt ?? expiry,
    firstSeq,
    lastSeq: firstSeq - 1 + events.length,
    tipSeq: log.tipSeq,
    highWater: events.at(-1)?.highWater ?? 0,
    counters: log.counters,
    marks: log.marks,
    marksSeq: log.marksSeq,
    turn: NO_TURN,
    turnsOnly,
    stateBytes,
    usage: sessionUsageAfter([], origin?.usage),
    dispatchedSeq: 0,
    // What another store had is no news for consumers.
    waitingSince: events.length > 0 && !origin ? markTime(now) : NOTHING_WAITS,
  };
}

/** What stands for the record of a session that cannot be read. */
export function unreadableRecord(key: SessionKey, incarnation: string): SessionRecord {
  return newRecord(key, incarnation, 0, NEVER);
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

/** An event of the log with which a session is created. */
export interface InitialEvent extends CommitEvent {
  readonly appendedAt: number;
  /** Latest time in the log up to this event: timestamps and append times. */
  readonly highWater: number;
}

/** An event with its place in the log, as a store keeps it. */
export interface NumberedEvent extends InitialEvent {
  readonly seq: number;
}

/** The log with which a session is created, and the fields of its record that depend on the log. */
export interface InitialLog {
  /** They get `seq` 1, 2, 3 …, in this order. Ids are unique. */
  readonly events: readonly InitialEvent[];
  /** The last event that is not a summary. */
  readonly tipSeq: number;
  readonly counters: Counters;
  readonly marks: ViewMarks;
  /** The event that set the marks: a summary or a rewind, or a redaction, which sets them to what they were. */
  readonly marksSeq: number;
  /** Of a session that another store had. Its events follow with `TransferStore.restoreEvents`. */
  readonly origin?: LogOrigin | undefined;
}

/** What a session that comes from another store brings along, besides its events. */
export interface LogOrigin {
  readonly createTime: number;
  readonly lastUpdateTime: number;
  readonly expiresAt: number;
  /** The first retained event. The log has no earlier ones: they were trimmed. */
  readonly firstSeq: number;
  /** Its usage. */
  readonly usage?: readonly ModelUsage[] | undefined;
}

export const EMPTY_LOG: InitialLog = Object.freeze({
  events: Object.freeze([]),
  tipSeq: 0,
  counters: NO_COUNTS,
  marks: NO_MARKS,
  marksSeq: 0,
});

/** The event of a commit: the fields that a store uses, and the event itself as opaque JSON text. */
export interface CommitEvent {
  readonly id: string;
  readonly timestamp: number;
  /** Whether a shortened view may begin here. */
  readonly anchor: boolean;
  /** Events of a group can be found: see `ReadRequest.find`. At most 64 ASCII characters; '' or missing: no group. */
  readonly group?: string | undefined;
  readonly payload: string;
}

/** Which events of a session wait to be dispatched to consumers. */
export interface DispatchMark {
  /** The last event that was dispatched. Without consumers, older events were not dispatched either. */
  readonly dispatchedSeq: number;
  /** When the first event after it was appended, by the store's clock; 0 if there is none. */
  readonly waitingSince: number;
}

/** A mark and the end of the log. */
export interface MarkedLog extends DispatchMark {
  readonly lastSeq: number;
}

/** A mark without waiting events. */
export const NOTHING_WAITS = 0;

/**
 * The mark of a session after an append. Only the first event after a dispatch changes it, so other appends write no
 * mark. `recordAfter` applies it.
 *
 * @example const record = { ...before, lastSeq, ...markAfterAppend(before, now) };
 */
export function markAfterAppend(record: MarkedLog, now: number): DispatchMark {
  const { dispatchedSeq, waitingSince, lastSeq } = record;
  if (waitingSince !== NOTHING_WAITS) return { dispatchedSeq, waitingSince };
  return { dispatchedSeq: lastSeq, waitingSince: markTime(now) };
}

/**
 * Whether a write lets events wait for the dispatch that did not wait before.
 *
 * @example if (beginsToWait(before, after)) wakeDispatcher();
 */
export function beginsToWait(before: DispatchMark, { waitingSince }: DispatchMark): boolean {
  return waitingSince !== NOTHING_WAITS && waitingSince !== before.waitingSince;
}

/**
 * The mark of a session whose events up to `lastSeq` were dispatched; `undefined` if another dispatcher changed it in the
 * meantime.
 *
 * @param seen the mark and the last event that were dispatched
 * @example
 * const mark = markAfterDispatch(record, seen, now);
 * if (mark) session.record = { ...record, ...mark };
 */
export function markAfterDispatch(record: MarkedLog, seen: MarkedLog, now: number): DispatchMark | undefined {
  if (record.waitingSince === NOTHING_WAITS || record.dispatchedSeq !== seen.dispatchedSeq) return undefined;
  const isAll = record.lastSeq === seen.lastSeq;
  return { dispatchedSeq: seen.lastSeq, waitingSince: isAll ? NOTHING_WAITS : markTime(now) };
}

/** The time of a mark. 0 means that nothing waits. */
function markTime(now: number): number {
  return Math.max(1, Math.floor(now));
}
