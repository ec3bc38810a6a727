import type { SessionKey } from '../domain/ids.js';

/** One incarnation of a session. */
export interface LogReference {
  readonly key: SessionKey;
  readonly incarnation: string;
}

/** Where a log stands. */
export interface LogPosition {
  readonly lastSeq: number;
  /** How long the session lives by the store's clock, unless somebody prolongs that. */
  readonly livesForMs: number;
}

/** Told that something happened to a log: that it reached this number, or something unknown. */
export type HearOfLog = (lastSeq?: number) => void;

/** An ear for one log. */
export interface Listening {
  /** Whether whatever happens is heard now. */
  readonly isLive: boolean;
  stop(): void;
}

/** Carries what happens to logs from one process to the others. It may lose things, but only while it is not live. */
export interface ChangeFeed {
  /**
   * Hears of what any process does to a log, this one included. Also hears something unknown each time that it becomes
   * live, since whatever happened before may have been missed.
   */
  listen(log: LogReference, hear: HearOfLog): Listening;
}

/** How a store shows many who wait for events what others did, for less than a read each. */
export interface SessionChanges {
  /** Where these logs stand, in their order; `undefined` where the session is missing, expired or another one. */
  positions(logs: readonly LogReference[]): Promise<readonly (LogPosition | undefined)[]>;
  /** Where there is none, positions are all that is known. */
  readonly feed?: ChangeFeed | undefined;
}
