/** How much of a conversation a reader sees, and how much of it is kept. 0 switches a setting off. */
export interface HistorySettings {
  /** Newest events in a view, on append and on read. */
  readonly maxEvents: number;
  /** Age in seconds after which an event leaves the view, on append and on read. */
  readonly eventTtlSeconds: number;
  /** Newest events in a view, on read only. */
  readonly numRecentEvents: number;
  /** Whether events that left the view stay in the log. */
  readonly keepHistory: boolean;
}

/** Everything is seen and everything is kept. */
export const DEFAULT_HISTORY: HistorySettings = {
  maxEvents: 0,
  eventTtlSeconds: 0,
  numRecentEvents: 0,
  keepHistory: true,
};
