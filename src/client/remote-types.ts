import type { EventInput, LoggedEvent } from '../sessions/domain/event.js';
import type { SessionKey, UserKey } from '../sessions/domain/ids.js';
import type { Session } from '../sessions/domain/session.js';
import type { ListSessionsRequest } from '../sessions/operations/list-sessions.js';
import type { SessionSummary } from '../summarizer/session-summary.js';

/** A session as the routes show it. */
export interface RemoteSession extends Readonly<Omit<Session, 'state'>> {
  readonly state: State;
}

/** What names one session. */
export type RemoteKey = SessionKey;

/** What names one user. */
export type RemoteOwner = UserKey;
export type RemoteListRequest = ListSessionsRequest & RemoteOwner;

export type CreateRequest = RemoteOwner & {
  readonly sessionId?: string | undefined;
  readonly state?: State | undefined;
};

export type State = Record<string, unknown>;

export interface StateChange {
  readonly stateDelta?: State | undefined;
  readonly stateRemovals?: readonly string[] | undefined;
}

export interface AppendRequest extends RemoteKey {
  readonly event: EventInput;
  /** Refuse with 412 if anything but summaries was appended after this version. */
  readonly expectedVersion?: number | undefined;
}

export interface RemoteAppend {
  /** The event as it is stored. */
  readonly event: LoggedEvent;
  /** Whether it was stored before, and this call changed nothing. */
  readonly duplicate: boolean;
}

export interface RemotePage {
  readonly sessions: RemoteSession[];
  readonly limit: number;
  readonly nextCursor?: string;
  /** Only where `page` or `offset` was given. */
  readonly page?: number;
  readonly totalItems?: number;
  readonly totalPages?: number;
}

/** A summary as the log keeps it: the event of number `seq`. */
export type RemoteSummary = SessionSummary;

export interface SummaryRequest extends RemoteKey {
  /** Whether to summarise what there is, also where it is not due yet. */
  readonly force?: boolean | undefined;
  /** How long to wait; 150,000 ms unless given, for models take their time. */
  readonly timeoutMs?: number | undefined;
}

export interface SummaryListRequest extends RemoteKey {
  /** Only summaries after this event. */
  readonly afterSeq?: number | undefined;
  /** At most 1,000; 100 unless given. */
  readonly limit?: number | undefined;
}
