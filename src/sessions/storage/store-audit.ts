/** What a store can find wrong in its own tables or keys. */
export type StoreProblemCode =
  | 'ORPHAN'
  | 'INDEX_DIFFERS'
  | 'EVENT_BEYOND_END'
  | 'RECORD_UNREADABLE'
  | 'EVENT_MISSING'
  | 'SCOPE_EMPTY'
  | 'SCOPE_WITHOUT_EXPIRY'
  | 'UNKNOWN_KEY';

/** Something wrong in a store, besides what its methods show of live sessions. */
export interface StoreProblem {
  readonly code: StoreProblemCode;
  /** Whose data it is, as far as the store can tell. */
  readonly appName?: string | undefined;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** What is wrong, with the names of tables or keys. Never the content of events or state. */
  readonly detail: string;
  /** Whether it was mended. */
  readonly isRepaired?: boolean | undefined;
}

/** Which part of a store to examine. */
export interface AuditRequest {
  /** The `nextCursor` of the last part. Missing at the beginning. */
  readonly cursor?: string | undefined;
  /** How many rows, keys or members to examine, about. */
  readonly limit: number;
  /** Mend what follows from records and events. Never removes events, or state of a user or an app. */
  readonly repair: boolean;
}

/** What a part of a store showed. */
export interface AuditPage {
  readonly problems: readonly StoreProblem[];
  /** How many rows, keys or members were examined. */
  readonly examined: number;
  /** For the next part. Missing after the last one. */
  readonly nextCursor?: string | undefined;
}
