import type { SessionKey, StateOwner, UserKey } from '../domain/values/ids.js';
import type { InitialEvent } from '../domain/stored/session-record.js';
import type { ModelUsage } from '../domain/usage/usage.js';

/** Events to add as another store had them. */
export interface RestoreEventsRequest {
  readonly key: SessionKey;
  readonly incarnation: string;
  /** The current last event. */
  readonly lastSeq: number;
  /** They get the next numbers, in this order. Not empty. */
  readonly events: readonly InitialEvent[];
}

/** The usage of one period: a day or a month. */
export interface PeriodUsage {
  readonly period: string;
  readonly models: readonly ModelUsage[];
}

/** Sums of usage of a user or an app as another store had them. */
export interface RestoreUsageRequest {
  readonly owner: StateOwner;
  readonly sums: readonly PeriodUsage[];
  /** How long they are kept after their last change. */
  readonly keepMs: number;
}

/**
 * What moving sessions between stores, and erasing users, needs besides the rest of a store. Optional: without it, sessions
 * can be exported, but not imported, and no user can be erased.
 *
 * A session that another store had is created with a log that has an `origin` and no events; see `InitialLog`.
 */
export interface TransferStore {
  /** Whether the store keeps state and usage of users and apps. Default `true`. */
  readonly keepsShared?: boolean | undefined;
  /** Whether values of the state come back with their keys in the same order, as they should. Default `true`. */
  readonly keepsKeyOrder?: boolean | undefined;
  /**
   * The users of an app who have state or usage, in groups and in any order, perhaps some of them twice. Users whose data has expired
   * may be among them.
   */
  sharedOwners(appName: string): AsyncIterable<readonly string[]>;
  /** Stores sums of usage. Returns `false`, and does nothing, if the owner has some already. */
  restoreUsage(request: RestoreUsageRequest): Promise<boolean>;
  /**
   * Removes all that the store has of a user beside entries, also what has expired. Returns the number of removed sessions. Not one
   * step: a repeated call removes what a failed one has left.
   */
  eraseUser(user: UserKey): Promise<number>;
}
