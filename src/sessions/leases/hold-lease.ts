import { LeaseLostError } from '../domain/errors/errors.js';
import type { Lease, LeaseStore } from '../storage/coordination.js';
import { LeaseRenewal } from './lease-renewal.js';

/** How to hold a lease. */
export interface HoldLeaseOptions {
  readonly leases: LeaseStore;
  readonly ttlMs: number;
  /** When it was requested, by `performance.now()`. */
  readonly askedAt: number;
  readonly onError: (error: unknown) => void;
}

/** A lease that is renewed until it is released. */
export interface RenewedLease {
  /** Aborts when the lease is lost. */
  readonly signal: AbortSignal;
  release(): Promise<void>;
}

/** Renews an acquired lease until it is released. */
export function holdLease(lease: Lease, { leases, ttlMs, askedAt, onError }: HoldLeaseOptions): RenewedLease {
  const renewal = new LeaseRenewal({
    renew: async () => (await leases.renew(lease, ttlMs)) !== undefined,
    lostError: () => new LeaseLostError(lease.name),
    ttlMs,
    askedAt,
    onError,
  });
  return {
    signal: renewal.signal,
    async release() {
      renewal.stop();
      // A failed release does not hide the result: the lease expires.
      await leases.release(lease).catch(onError);
    },
  };
}
