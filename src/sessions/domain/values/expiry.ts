import type { TtlSettings } from '../../../config/session-settings.js';

/** An `expiresAt` that is never reached: the latest time of a Date. */
export const NEVER = 8.64e15;

export const DAY_MS = 86_400_000;

/** Reads renew a lifetime only after a tenth of it has passed, so that most reads do not write. */
const RENEWAL_FRACTION = 0.9;

/** A time to live from now on. */
export interface Lifetime {
  readonly ttlMs: number;
  /** Renew when less than this is left. */
  readonly renewBelowMs: number;
}

/** The lifetimes that a write sets. */
export interface Lifetimes {
  readonly session: Lifetime;
  readonly user: Lifetime;
  readonly app: Lifetime;
}

const FOREVER: Lifetime = { ttlMs: NEVER, renewBelowMs: 0 };

export function lifetimesOf(ttl: TtlSettings): Lifetimes {
  const lifetime = (seconds: number): Lifetime => {
    const ttlMs = seconds * 1000;
    // A lifetime beyond NEVER needs no renewal.
    if (!ttl.enabled || ttlMs <= 0 || ttlMs >= NEVER) return FOREVER;
    return { ttlMs, renewBelowMs: ttlMs * RENEWAL_FRACTION };
  };
  return {
    session: lifetime(ttl.sessionSeconds),
    user: lifetime(ttl.userStateSeconds),
    app: lifetime(ttl.appStateSeconds),
  };
}

/**
 * The expiry of a lifetime that begins now; at most {@link NEVER}.
 *
 * @example const record = newRecord(key, incarnation, now, expiresAt(now, expiry.session), log);
 */
export function expiresAt(now: number, { ttlMs }: Pick<Lifetime, 'ttlMs'>): number {
  return Math.min(Math.floor(now + ttlMs), NEVER);
}

/**
 * Whether the expiry is reached. At `expiresAt` itself it is.
 *
 * @example if (!record || isExpired(record.expiresAt, now)) return undefined;
 */
export function isExpired(expiry: number, now: number): boolean {
  return expiry <= now;
}

/**
 * Whether a lifetime that has not expired is due for renewal.
 *
 * @example if (renew && isRenewalDue(scope.expiresAt, now, renew)) scope.expiresAt = expiresAt(now, renew);
 */
export function isRenewalDue(expiry: number, now: number, { renewBelowMs }: Lifetime): boolean {
  return !isExpired(expiry, now) && expiry - now < renewBelowMs;
}
