import type { StoredEvent } from '../domain/commit.js';
import type { SessionKey } from '../domain/ids.js';
import type { StoredPartial } from '../domain/partial-event.js';

/** One incarnation of a session. */
export interface LogReference {
  readonly key: SessionKey;
  readonly incarnation: string;
  /** Whether `lastPartial` of its position is wanted. */
  readonly withPartials?: boolean | undefined;
}

/** The position of a log. */
export interface LogPosition {
  readonly lastSeq: number;
  /** Time until the session expires by the store's clock, unless it is renewed. */
  readonly livesForMs: number;
  /** The highest number of its partial events, or 0; at least if asked for. Without it, their readers look themselves. */
  readonly lastPartial?: number | undefined;
}

/** A log that is followed, and how far it is known. */
export interface TailRequest extends Pick<LogReference, 'key' | 'incarnation'> {
  /** The last known event. */
  readonly afterSeq: number;
  /** The number of the last known partial event. Missing if partial events are not wanted. */
  readonly afterPartial?: number | undefined;
  /** How many events at most. */
  readonly limit: number;
}

/** What is new in a log, as one consistent snapshot. */
export interface LogTail {
  /** The last event of the log. */
  readonly lastSeq: number;
  /** The events that follow without a gap. A store may leave out the later ones, or all of them, to keep the answer small. */
  readonly events: readonly StoredEvent[];
  /** By number. Missing if they are not wanted, or too large: then the log is read by itself. */
  readonly partials?: readonly StoredPartial[] | undefined;
}

/**
 * Called when a log reached `lastSeq`, or, without argument, when it may have changed. With `lastPartial`, a partial event
 * of this number was saved.
 */
export type LogListener = (lastSeq?: number, lastPartial?: number) => void;

/** A subscription to one log. */
export interface LogSubscription {
  /** Whether all changes are delivered at the moment. */
  readonly isLive: boolean;
  stop(): void;
}

/** Announces changes of logs between processes. It may lose announcements only while it is not live. */
export interface ChangeFeed {
  /**
   * Subscribes to changes of a log by any process, this one included. Also calls the listener without argument each
   * time that the subscription becomes live, since earlier changes may have been missed.
   */
  listen(log: LogReference, listener: LogListener): LogSubscription;
  /**
   * Calls the listener when a session begins to wait for the dispatch to consumers (`'marks'`), and after a dispatch
   * (`'work'`), by any process; without argument when earlier calls may have been missed. Returns how to stop.
   */
  listenForConsumers?(listener: ConsumerListener): () => void;
}

/** What consumers may have to look at. */
export type ConsumerListener = (news?: 'marks' | 'work') => void;

/** Lets many watches find changes by other processes, cheaper than a read for each watch. */
export interface SessionChanges {
  /** Positions of the logs, in the given order; `undefined` for a session that is missing, expired or another incarnation. */
  positions(logs: readonly LogReference[]): Promise<readonly (LogPosition | undefined)[]>;
  /**
   * Reads what is new in many logs, in the given order; `undefined` as for `positions`. Optional: for stores to which one call for
   * many logs costs less than a call for each.
   */
  tails?(logs: readonly TailRequest[]): Promise<readonly (LogTail | undefined)[]>;
  /** Without a feed, watches poll positions. */
  readonly feed?: ChangeFeed | undefined;
}
