import { LeaseLostError } from '../domain/errors.js';
import type { Lease, LeaseStore } from '../storage/lease-store.js';

/** So that a renewal may fail, and the next one still comes in time. */
const RENEWALS_PER_LIFE = 3;

export interface RenewalOptions {
  readonly leases: LeaseStore;
  readonly lease: Lease;
  readonly ttlMs: number;
  /** When the lease was asked for, by `performance.now()`. */
  readonly askedAt: number;
  readonly onError: (error: unknown) => void;
}

/**
 * Keeps a lease alive, and says when it is lost.
 *
 * Whether it is over is judged here by the time since the last renewal that worked was *asked* for, which is
 * never later than the store sees it, and needs no agreement of clocks. So the holder stops in time even where
 * the store does not answer any more.
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

  /** From now on nothing is renewed, and the signal stays as it is. */
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
      // It may work the next time, and until then the lease is held.
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
