/** Limits of views and of retained history. 0 disables a setting. */
export interface HistorySettings {
  /** Number of newest events in a view, on append and on read. */
  readonly maxEvents: number;
  /** Age in seconds after which an event leaves the view, on append and on read. */
  readonly eventTtlSeconds: number;
  /** Number of newest events in a view, on read only. */
  readonly numRecentEvents: number;
  /** Whether events that left the view stay in the log. */
  readonly keepHistory: boolean;
}

/** No limits, and the whole history is retained. */
export const DEFAULT_HISTORY: HistorySettings = {
  maxEvents: 0,
  eventTtlSeconds: 0,
  numRecentEvents: 0,
  keepHistory: true,
};
