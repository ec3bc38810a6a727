import { hostname } from 'node:os';
import { assertLeaseRequest } from '../domain/lease-rules.js';
import type { LeaseStore } from '../storage/lease-store.js';
import { LeaseRenewal } from './lease-renewal.js';

/** Which lease to take, and for how long. */
export interface WithLeaseOptions {
  /** Where leases are kept: `storage.leases`. */
  readonly leases: LeaseStore;
  /** What only one may do at a time: 1 to 400 UTF-8 bytes. */
  readonly name: string;
  /** Who does it, for people who look into the store; the machine and the process unless given. */
  readonly holder?: string | undefined;
  /** How long others wait after this process crashed; from 100 ms to a day. Work may take longer than that. */
  readonly ttlMs: number;
  /** Told of a renewal or a release that failed; the lease then runs out by itself. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** What work has that holds a lease. */
export interface HeldLease {
  /** Higher than that of whoever held the lease before: what the work writes to can refuse lower ones. */
  readonly token: number;
  /** Fires when the lease is lost, with a `LeaseLostError`: somebody else may begin from then on. */
  readonly signal: AbortSignal;
}

/** What became of the work; it did not run where somebody else holds the lease. */
export type LeaseOutcome<Result> = { readonly ran: true; readonly result: Result } | { readonly ran: false };

/**
 * Does something that one instance at a time may do: takes the lease, renews it for as long as the work takes,
 * and gives it back, also where the work throws. Where somebody else holds it, nothing is done.
 *
 * A lease alone cannot stop work that hangs and goes on later; check `signal` before each step, and have
 * what must not be written twice refuse lower tokens.
 *
 * @example
 * const outcome = await withLease({ leases: storage.leases, name: 'report', ttlMs: 30_000 }, async ({ token, signal }) => {
 *   for (const page of pages) {
 *     signal.throwIfAborted();
 *     await publish(page, token);
 *   }
 * });
 * if (!outcome.ran) console.log('another instance is at it');
 */
export async function withLease<Result>(
  { leases, name, holder = `${hostname()}:${process.pid}`, ttlMs, onError = () => undefined }: WithLeaseOptions,
  work: (held: HeldLease) => Promise<Result>,
): Promise<LeaseOutcome<Result>> {
  assertLeaseRequest({ name, holder, ttlMs });
  const askedAt = performance.now();
  const lease = await leases.acquire({ name, holder, ttlMs });
  if (!lease) return { ran: false };
  const renewal = new LeaseRenewal({ leases, lease, ttlMs, askedAt, onError });
  try {
    return { ran: true, result: await work({ token: lease.token, signal: renewal.signal }) };
  } finally {
    renewal.stop();
    // What the work came to is not spoiled by a store that is away: the lease runs out.
    await leases.release(lease).catch(onError);
  }
}
