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
/** Which page of a user's sessions. */
export type RemoteListRequest = ListSessionsRequest & RemoteOwner;

/** Whose session to create, and what it begins with; without an id one is generated. */
export type CreateRequest = RemoteOwner & {
  readonly sessionId?: string | undefined;
  readonly state?: State | undefined;
};

/** Values by key. */
export type State = Record<string, unknown>;

/** What to change in a state. */
export interface StateChange {
  /** Keys to set; `null` is a value. */
  readonly stateDelta?: State | undefined;
  /** Keys to remove. */
  readonly stateRemovals?: readonly string[] | undefined;
}

/** What to append, and to which session. */
export interface AppendRequest extends RemoteKey {
  readonly event: EventInput;
  /** Refuse with 412 if anything but summaries was appended after this version. */
  readonly expectedVersion?: number | undefined;
}

/** What became of an append. */
export interface RemoteAppend {
  /** The event as it is stored. */
  readonly event: LoggedEvent;
  /** Whether it was stored before, and this call changed nothing. */
  readonly duplicate: boolean;
}

/** A page of sessions, without their events. */
export interface RemotePage {
  readonly sessions: RemoteSession[];
  readonly limit: number;
  /** For the next page; missing on the last one. */
  readonly nextCursor?: string;
  /** Only where `page` or `offset` was given. */
  readonly page?: number;
  readonly totalItems?: number;
  readonly totalPages?: number;
}

/** A summary as the log keeps it: the event of number `seq`. */
export type RemoteSummary = SessionSummary;

/** Which session to summarise. */
export interface SummaryRequest extends RemoteKey {
  /** Whether to summarise what there is, also where it is not due yet. */
  readonly force?: boolean | undefined;
  /** How long to wait; 150,000 ms unless given, for models take their time. */
  readonly timeoutMs?: number | undefined;
}

/** Which summaries of which session. */
export interface SummaryListRequest extends RemoteKey {
  /** Only summaries after this event. */
  readonly afterSeq?: number | undefined;
  /** At most 1,000; 100 unless given. */
  readonly limit?: number | undefined;
}
