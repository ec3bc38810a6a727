import { backoffMs } from '../sessions/domain/process/backoff.js';
import type { Clock } from '../sessions/domain/process/clock.js';
import { BoundedMap } from '../sessions/domain/process/bounded-map.js';

export interface RetryScheduleOptions {
  readonly clock: Clock;
  /** The pause after the first failure. It doubles with each failure. Default: 30 seconds, to half an hour. */
  readonly firstMs?: number;
  readonly maxMs?: number;
  /** Returns 0 to 1, for jitter: sessions that failed together are not retried together. */
  readonly random?: (() => number) | undefined;
}

interface Failures {
  readonly count: number;
  readonly notBefore: number;
}

/** A session that is dropped from the map is retried too early, which does little harm. */
const MAX_SESSIONS = 10_000;

/** When to retry a session: exponential backoff per session. */
export class RetrySchedule {
  readonly #failures = new BoundedMap<Failures>(MAX_SESSIONS);

  readonly #clock: Clock;
  readonly #pauses: { readonly firstMs: number; readonly maxMs: number };
  readonly #random: () => number;

  constructor({ clock, firstMs = 30_000, maxMs = 30 * 60_000, random = Math.random }: RetryScheduleOptions) {
    this.#clock = clock;
    this.#pauses = { firstMs, maxMs };
    this.#random = random;
  }

  /** Records a failure. Returns how many there were, and how long to wait. */
  failed(name: string): { count: number; waitMs: number } {
    const count = (this.#failures.get(name)?.count ?? 0) + 1;
    const waitMs = backoffMs(count, this.#pauses, this.#random());
    this.#failures.set(name, { count, notBefore: this.#clock.now() + waitMs });
    return { count, waitMs };
  }

  /** Delays the next attempt without counting a failure. */
  postpone(name: string, waitMs: number): void {
    const count = this.#failures.get(name)?.count ?? 0;
    this.#failures.set(name, { count, notBefore: this.#clock.now() + waitMs });
  }

  succeeded(name: string): void {
    this.#failures.delete(name);
  }

  /** A remaining pause longer than the maximum means that the clock was set back. It is ignored. */
  isTooEarly(name: string): boolean {
    const leftMs = (this.#failures.get(name)?.notBefore ?? 0) - this.#clock.now();
    return leftMs > 0 && leftMs <= this.#pauses.maxMs;
  }
}
