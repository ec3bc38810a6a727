/** If one renewal fails, the next one is still in time. */
const RENEWALS_PER_LIFE = 3;

export interface RenewalOptions {
  /** Returns whether the lease is still held. */
  readonly renew: () => Promise<boolean>;
  /** The reason of the signal. */
  readonly lostError: () => Error;
  readonly ttlMs: number;
  /** When the lease was requested, by `performance.now()`. */
  readonly askedAt: number;
  readonly onError: (error: unknown) => void;
}

/**
 * Renews a lease or a turn, and signals when it is lost.
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
  #endsAt = 0;
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

  /** Signals at once if the time has passed, even if a paused process could not run its timers. */
  checkTime(): void {
    if (performance.now() >= this.#endsAt) this.#lose();
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
    const { renew, onError } = this.#options;
    const askedAt = performance.now();
    try {
      if (await renew()) this.#expectEnd(askedAt);
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
    this.#endsAt = askedAt + this.#options.ttlMs;
    this.#end = setTimeout(() => this.#lose(), Math.max(0, this.#endsAt - performance.now()));
    this.#end.unref();
  }

  #lose(): void {
    if (this.#isStopped) return;
    this.stop();
    this.#lost.abort(this.#options.lostError());
  }
}
