import type { QuotaName } from '../../../config/quota-settings.js';
import { DAY_MS } from '../values/expiry.js';

/** A quota of a window of time. */
export type Rate = Exclude<QuotaName, 'sessions' | 'storedBytes'>;

/** How long the window of a rate is. Windows begin at whole minutes and days of UTC. */
export const QUOTA_WINDOWS: Readonly<Record<Rate, number>> = {
  appendsPerMinute: 60_000,
  bytesPerDay: DAY_MS,
  runsPerMinute: 60_000,
};

/** What all instances have taken of a rate in a window. */
export interface RateCount {
  /** When the window began. */
  readonly since: number;
  readonly used: number;
}

/** What an instance asks for. */
export interface ShareRequest {
  readonly limit: number;
  readonly windowMs: number;
  /** Without so much, and at least one, it is refused. */
  readonly need: number;
  /** What it takes if there is so much, to ask less often. */
  readonly wish: number;
  /** What cannot be refused is counted beyond the limit. */
  readonly isForced: boolean;
}

/** What an instance gets; `taken` is missing for a refusal. */
export interface ShareDecision {
  readonly taken?: number;
  readonly count: RateCount;
  readonly endsAt: number;
}

/**
 * What an instance may take of a rate, for itself. All that is taken never exceeds the limit, unless it is forced. Whoever is refused may
 * come back when the window ends.
 */
export function takeShare(stored: RateCount | undefined, now: number, request: ShareRequest): ShareDecision {
  const { limit, windowMs, need, wish, isForced } = request;
  const count = countAt(stored, now, windowMs);
  const endsAt = count.since + windowMs;
  const left = Math.max(0, limit - count.used);
  if (left < Math.max(1, need) && !isForced) return { count, endsAt };
  const taken = Math.max(need, Math.min(left, wish));
  return { taken, count: { since: count.since, used: count.used + taken }, endsAt };
}

/** The count of the window of now. A clock that goes back opens no window again. */
export function countAt(stored: RateCount | undefined, now: number, windowMs: number): RateCount {
  const since = Math.floor(now / windowMs) * windowMs;
  return stored && stored.since >= since ? stored : { since, used: 0 };
}

/** In how many shares an instance takes a whole rate. */
const SHARES = 16;

/** What to wish for: an instance sets aside no more than it has spent in the window, and no large part of the whole. */
export function wishOf(limit: number, spent: number, need: number): number {
  return Math.max(1, need, Math.min(Math.ceil(limit / SHARES), spent));
}
