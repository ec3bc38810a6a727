/** The store's time as far as this process knows it. */
export interface PlanTime {
  readonly now: number;
  /** By how much the store's time may be later when it writes. 0: it is the time of the write. */
  readonly slackMs: number;
}

/** How late the store may get a write that was planned. Nothing that ends earlier is decided by it. */
export const SLACK_MS = 1_000;

/** By how much the store's clock may be behind the moment, for roundings. */
export const AHEAD_MS = 2;

/** In the store's time. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/**
 * When a write that was planned at this moment may be written; `undefined` if the time is not the store's.
 *
 * @example const range = timeRange(moment); // the store writes only if its time is between `from` and `to`
 */
export function timeRange({ now, slackMs }: PlanTime, until = Infinity): TimeRange | undefined {
  return slackMs > 0 ? { from: now - AHEAD_MS, to: Math.min(now + slackMs, until) } : undefined;
}
