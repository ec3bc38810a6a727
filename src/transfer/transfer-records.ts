import type { Counters } from '../sessions/domain/counters.js';
import type { SessionKey, StateOwner } from '../sessions/domain/ids.js';
import type { ModelUsage } from '../sessions/domain/usage.js';
import type { ViewMarks } from '../sessions/domain/view-marks.js';
import type { StateEntries } from '../sessions/storage/session-storage.js';
import type { PeriodUsage } from '../sessions/storage/transfer-store.js';

/** A session, without its events. They follow, then its end. */
export interface SessionLine extends SessionKey {
  readonly kind: 'session';
  readonly createTime: number;
  readonly lastUpdateTime: number;
  /** Missing for a session that never expires. */
  readonly expiresAt?: number | undefined;
  /** The first retained event; the next number if there is none. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** The last event that is not a summary. */
  readonly tipSeq: number;
  readonly counters: Counters;
  readonly marks: ViewMarks;
  readonly marksSeq: number;
  readonly turnsOnly: boolean;
  /** Names and values of metadata, as JSON texts. */
  readonly metadata: StateEntries;
  /** The session's own state: names and values as JSON texts. */
  readonly state: StateEntries;
  /** Its own state before the first retained event, as JSON text. */
  readonly baseState: string;
  readonly usage: readonly ModelUsage[];
}

/** An event of the session before it. */
export interface EventLine {
  readonly kind: 'event';
  readonly seq: number;
  readonly appendedAt: number;
  /** The event as JSON text. */
  readonly payload: string;
}

/** The end of a session: all its events have come. */
export interface EndLine {
  readonly kind: 'end';
  readonly events: number;
  /** SHA-256 of the payloads, each with a line break. */
  readonly digest: string;
}

/** The state of a user or, without `userId`, an app. */
export interface StateLine extends StateOwner {
  readonly kind: 'state';
  /** Missing for state that never expires. */
  readonly expiresAt?: number | undefined;
  readonly entries: StateEntries;
}

/** The tokens that a user or an app used, by month and day. */
export interface UsageLine extends StateOwner {
  readonly kind: 'usage';
  readonly sums: readonly PeriodUsage[];
}

/** What an export consists of. A session is followed by its events, then by its end. */
export type TransferRecord = SessionLine | EventLine | EndLine | StateLine | UsageLine;

/** What to transfer. Default: all. A `sessionId` needs a `userId`, which needs an `appName`. */
export interface TransferFilter {
  readonly appName?: string | undefined;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** How many items there are of each kind. */
export interface TransferCounts {
  readonly sessions: number;
  readonly events: number;
  readonly states: number;
  readonly usages: number;
}

export const NO_TRANSFER: TransferCounts = { sessions: 0, events: 0, states: 0, usages: 0 };

/** The counts with one more record. */
export function countedWith(counts: TransferCounts, { kind }: TransferRecord): TransferCounts {
  if (kind === 'event') return { ...counts, events: counts.events + 1 };
  if (kind === 'session') return { ...counts, sessions: counts.sessions + 1 };
  if (kind === 'state') return { ...counts, states: counts.states + 1 };
  return kind === 'usage' ? { ...counts, usages: counts.usages + 1 } : counts;
}
