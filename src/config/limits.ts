/** How much a caller may put into one event or one state change. */
export interface SessionLimits {
  /** Largest event (or initial state), in bytes of its JSON text. */
  readonly maxEventBytes: number;
  /** Deepest nesting of objects and arrays inside an event or a state value. */
  readonly maxDepth: number;
  /** Most keys that one change may set and remove together. */
  readonly maxDeltaKeys: number;
}

/** What holds where no limits are given. */
export const DEFAULT_LIMITS: SessionLimits = {
  maxEventBytes: 1_048_576,
  maxDepth: 64,
  maxDeltaKeys: 1_000,
};
