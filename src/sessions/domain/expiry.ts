import type { TtlSettings } from '../../config/ttl.js';

/** An `expiresAt` that no clock reaches: the last moment that a Date can hold. */
export const NEVER = 8.64e15;

/** A read or an untouched scope prolongs life only when a tenth of it has passed, so that reads do not write. */
const RENEWAL_FRACTION = 0.9;

/** How long something lives from now on. */
export interface Lifetime {
  readonly ttlMs: number;
  /** Worth renewing when less than this is left. */
  readonly renewBelowMs: number;
}

/** The lifetimes that a write gives to what it touches. */
export interface Lifetimes {
  readonly session: Lifetime;
  readonly user: Lifetime;
  readonly app: Lifetime;
}

const FOREVER: Lifetime = { ttlMs: NEVER, renewBelowMs: 0 };

export function lifetimesOf(ttl: TtlSettings): Lifetimes {
  const lifetime = (seconds: number): Lifetime => {
    const ttlMs = seconds * 1000;
    // What would outlive every clock never has to be renewed.
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
 * When something expires that lives so long from now on; never later than {@link NEVER}.
 *
 * @example const record = newRecord(key, incarnation, now, expiresAt(now, expiry.session), log);
 */
export function expiresAt(now: number, { ttlMs }: Pick<Lifetime, 'ttlMs'>): number {
  return Math.min(Math.floor(now + ttlMs), NEVER);
}

/**
 * At `expiresAt` itself it is over.
 *
 * @example if (!record || isExpired(record.expiresAt, now)) return undefined;
 */
export function isExpired(expiry: number, now: number): boolean {
  return expiry <= now;
}

/**
 * Whether something that is alive has used up enough of its life to be renewed.
 *
 * @example if (renew && isRenewalDue(scope.expiresAt, now, renew)) scope.expiresAt = expiresAt(now, renew);
 */
export function isRenewalDue(expiry: number, now: number, { renewBelowMs }: Lifetime): boolean {
  return !isExpired(expiry, now) && expiry - now < renewBelowMs;
}
