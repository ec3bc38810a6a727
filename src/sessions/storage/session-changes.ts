import type { StoredEvent } from '../domain/stored/commit.js';
import type { SessionKey } from '../domain/values/ids.js';
import type { StoredPartial } from '../domain/stored/partial-event.js';

/** One incarnation of a session. */
export interface LogReference {
  readonly key: SessionKey;
  readonly incarnation: string;
}

/** A log that is followed, and how far it is known. */
export interface TailRequest extends LogReference {
  /** The last known event. */
  readonly afterSeq: number;
  /** How many events at most. 0: none, whether there are some or not. */
  readonly limit: number;
  /** The number of the last known partial event. Missing if partial events are not wanted. */
  readonly afterPartial?: number | undefined;
  /** Whether the number of the last partial event is wanted, without what they say. */
  readonly withLastPartial?: boolean | undefined;
  /** Up to which event the bytes of the log are wanted. Missing if they are not. */
  readonly bytesTo?: number | undefined;
}

/** What is new in a log, as one consistent snapshot. */
export interface LogTail {
  /** The last event of the log. */
  readonly lastSeq: number;
  /** Time until the session expires by the store's clock, unless it is renewed. */
  readonly livesForMs: number;
  /** The events that follow without a gap. A store may leave out the later ones, or all of them, to keep the answer small. */
  readonly events: readonly StoredEvent[];
  /** By number. Missing if they are not wanted, or too large beside other logs: then ask for this log alone. */
  readonly partials?: readonly StoredPartial[] | undefined;
  /** The number of the last partial event, or 0. Missing if it is not wanted. */
  readonly lastPartial?: number | undefined;
  /**
   * How many bytes the payloads after `afterSeq` up to `bytesTo` have that are kept, with the base state if no event up to `afterSeq` is
   * kept. Missing if they are not wanted.
   */
  readonly bytes?: number | undefined;
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
