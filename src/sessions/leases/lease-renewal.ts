import { LeaseLostError } from '../domain/errors.js';
import type { Lease, LeaseStore } from '../storage/lease-store.js';

/** If one renewal fails, the next one is still in time. */
const RENEWALS_PER_LIFE = 3;

export interface RenewalOptions {
  readonly leases: LeaseStore;
  readonly lease: Lease;
  readonly ttlMs: number;
  /** When the lease was requested, by `performance.now()`. */
  readonly askedAt: number;
  readonly onError: (error: unknown) => void;
}

/**
 * Renews a lease, and signals when it is lost.
 *
 * The lease counts as lost when its time has passed since the last successful renewal was *requested*. This is never
 * later than by the store's clock, and needs no synchronised clocks. So the holder stops in time even if the store
 * does not respond.
 */
export class LeaseRenewal {
  readonly #options: RenewalOptions;
  readonly #lost = new AbortController();
  #next: NodeJS.Timeout | undefined;
  #end: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: RenewalOptions) {
    this.#options = options;
    this.#expectEnd(options.askedAt);
    this.#plan();
  }

  /** Fires when the lease is lost. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** Stops renewing. The signal does not change any more. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#next);
    clearTimeout(this.#end);
  }

  #plan(): void {
    if (this.#isStopped) return;
    this.#next = setTimeout(() => void this.#renew(), this.#options.ttlMs / RENEWALS_PER_LIFE);
    this.#next.unref();
  }

  async #renew(): Promise<void> {
    const { leases, lease, ttlMs, onError } = this.#options;
    const askedAt = performance.now();
    try {
      const renewed = await leases.renew(lease, ttlMs);
      if (renewed) this.#expectEnd(askedAt);
      else this.#lose();
    } catch (error) {
      // The lease is still held, and the next renewal may succeed.
      if (!this.#isStopped) onError(error);
    }
    this.#plan();
  }

  #expectEnd(askedAt: number): void {
    if (this.#isStopped) return;
    clearTimeout(this.#end);
    this.#end = setTimeout(() => this.#lose(), Math.max(0, askedAt + this.#options.ttlMs - performance.now()));
    this.#end.unref();
  }

  #lose(): void {
    if (this.#isStopped) return;
    this.stop();
    this.#lost.abort(new LeaseLostError(this.#options.lease.name));
  }
}
