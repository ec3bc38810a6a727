import type { ComponentPlace } from '../sessions/domain/stored/component.js';
import type { Counters } from '../sessions/domain/stored/counters.js';
import type { SessionKey, StateOwner } from '../sessions/domain/values/ids.js';
import type { ModelUsage } from '../sessions/domain/usage/usage.js';
import type { ViewMarks } from '../sessions/domain/stored/view-marks.js';
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

/** Why an export left out a session. */
export interface SkippedSession extends SessionKey {
  /** `deleted` while it was exported; still `changing` after several attempts; or its log is `damaged`. */
  readonly reason: 'deleted' | 'changing' | 'damaged';
  readonly problem: string;
}

/** The session before it changed while it was exported: none of its lines count. It may come again. */
export interface VoidLine {
  readonly kind: 'void';
  readonly problem: string;
}

/** A value or a list of components. A long list has several lines, which follow each other. */
export interface ComponentLine {
  readonly kind: 'component';
  /** The session of components, as its store names it. */
  readonly session: string;
  readonly name: string;
  readonly type: ComponentPlace['kind'];
  /** Missing if it never expires. */
  readonly expiresAt?: number | undefined;
  /** The number of items of the whole list; 1 for a value. */
  readonly length: number;
  /** Of the whole; see `digestAfter`. */
  readonly digest: string;
  /** How many items came in earlier lines. */
  readonly from: number;
  /** JSON texts, exactly as they are stored. */
  readonly items: readonly string[];
}

/** A session that the export leaves out. Lines of it that came before are void. */
export interface SkippedLine extends SkippedSession {
  readonly kind: 'skipped';
}

/** What cannot be read: a damaged line, or something of another system. The session at hand is void. */
export interface BadLine extends Partial<SessionKey> {
  readonly kind: 'bad';
  readonly problem: string;
}

/** What an export consists of. A session is followed by its events, then by its end. */
export type TransferRecord =
  SessionLine | EventLine | EndLine | VoidLine | SkippedLine | StateLine | UsageLine | ComponentLine | BadLine;

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
  /** Values and lists of components. */
  readonly components: number;
}

export const NO_TRANSFER: TransferCounts = { sessions: 0, events: 0, states: 0, usages: 0, components: 0 };

/** The counts with one more record. */
export function countedWith(counts: TransferCounts, record: TransferRecord): TransferCounts {
  const { kind } = record;
  if (kind === 'event') return { ...counts, events: counts.events + 1 };
  if (kind === 'session') return { ...counts, sessions: counts.sessions + 1 };
  if (kind === 'state') return { ...counts, states: counts.states + 1 };
  if (kind === 'component') return record.from > 0 ? counts : { ...counts, components: counts.components + 1 };
  return kind === 'usage' ? { ...counts, usages: counts.usages + 1 } : counts;
}
