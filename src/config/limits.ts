/** Limits of events and state changes, and of results. */
export interface SessionLimits {
  /** Maximum size of an event (or initial state), in bytes of JSON text. */
  readonly maxEventBytes: number;
  /** Maximum nesting of objects and arrays in an event or a state value. */
  readonly maxDepth: number;
  /** Maximum number of keys that one change sets and removes together. */
  readonly maxDeltaKeys: number;
  /** Maximum bytes of a page of events or sessions. A page at the limit ends early, with a cursor. It has at least one entry. */
  readonly maxPageBytes: number;
  /**
   * Maximum bytes of the events in a view. A larger view keeps the newest events that fit, and `eventsTruncated` is set. The
   * tool call and the anchor that these events need are added.
   */
  readonly maxViewBytes: number;
}

/** The limits of writes. */
export type WriteLimits = Pick<SessionLimits, 'maxEventBytes' | 'maxDepth' | 'maxDeltaKeys'>;

/** The default limits. */
export const DEFAULT_LIMITS: SessionLimits = {
  maxEventBytes: 1_048_576,
  maxDepth: 64,
  maxDeltaKeys: 1_000,
  maxPageBytes: 8_388_608,
  maxViewBytes: 16_777_216,
};
