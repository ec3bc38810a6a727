import { hostname } from 'node:os';
import { assertLeaseRequest } from '../domain/background/lease-limits.js';
import type { LeaseStore } from '../storage/coordination.js';
import { holdLease } from './hold-lease.js';

/** The lease to acquire. */
export interface WithLeaseOptions {
  /** The lease store: `storage.leases`. */
  readonly leases: LeaseStore;
  /** Name of the exclusive work: 1 to 400 UTF-8 bytes. */
  readonly name: string;
  /** Identifies the worker, for operators. Default: host name and process id. */
  readonly holder?: string | undefined;
  /** How long others wait after a crash of this process; from 100 ms to a day. Work may take longer. */
  readonly ttlMs: number;
  /** Receives errors of renewals and of the release. The lease then expires. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** The lease, as the work sees it. */
export interface HeldLease {
  /** Fencing token: higher than the token of any former holder. The target of the work can refuse lower ones. */
  readonly token: number;
  /** Aborts with a `LeaseLostError` when the lease is lost. Then another instance may begin. */
  readonly signal: AbortSignal;
}

/** The result of the work, or `ran: false` if another instance holds the lease. */
export type LeaseOutcome<Result> = { readonly ran: true; readonly result: Result } | { readonly ran: false };

/**
 * Runs work under a lease: acquires the lease, renews it while the work runs, and releases it, even if the work throws.
 * If another instance holds the lease, the work does not run.
 *
 * A lease cannot stop work that hangs and continues later. Check `signal` before each step, and let the target of
 * critical writes refuse lower tokens.
 *
 * @example
 * const outcome = await withLease({ leases: storage.leases, name: 'report', ttlMs: 30_000 }, async ({ token, signal }) => {
 *   for (const page of pages) {
 *     signal.throwIfAborted();
 *     await publish(page, token);
 *   }
 * });
 * if (!outcome.ran) console.log('another instance does the work');
 */
export async function withLease<Result>(
  { leases, name, holder = `${hostname()}:${process.pid}`, ttlMs, onError = () => undefined }: WithLeaseOptions,
  work: (held: HeldLease) => Promise<Result>,
): Promise<LeaseOutcome<Result>> {
  assertLeaseRequest({ name, holder, ttlMs });
  const askedAt = performance.now();
  const lease = await leases.acquire({ name, holder, ttlMs });
  if (!lease) return { ran: false };
  const held = holdLease(lease, { leases, ttlMs, askedAt, onError });
  try {
    return { ran: true, result: await work({ token: lease.token, signal: held.signal }) };
  } finally {
    await held.release();
  }
}
