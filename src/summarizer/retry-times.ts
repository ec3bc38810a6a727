import type { Clock } from '../sessions/domain/clock.js';
import { Remembered } from './remembered.js';

export interface RetryOptions {
  readonly clock: Clock;
  /** After the first failure; it doubles with each one. */
  readonly firstMs: number;
  readonly mostMs: number;
  /** From 0 to 1; so that what failed together does not come back together. */
  readonly random?: (() => number) | undefined;
}

interface Failures {
  readonly count: number;
  readonly notBefore: number;
}

/** What is forgotten is tried too early, which does little harm. */
const MOST_REMEMBERED = 10_000;

/** Remembers what failed, and when to try it again. */
export class RetryTimes {
  readonly #failures = new Remembered<Failures>(MOST_REMEMBERED);

  constructor(private readonly options: RetryOptions) {}

  /** How often it failed, and how long to wait now. */
  failed(name: string): { count: number; waitMs: number } {
    const { clock, firstMs, mostMs, random = Math.random } = this.options;
    const count = (this.#failures.get(name)?.count ?? 0) + 1;
    const whole = Math.min(mostMs, firstMs * 2 ** (count - 1));
    const waitMs = Math.round(whole * (0.75 + random() / 4));
    this.#failures.set(name, { count, notBefore: clock.now() + waitMs });
    return { count, waitMs };
  }

  succeeded(name: string): void {
    this.#failures.delete(name);
  }

  /** Nobody waits longer than the longest wait: where that is what is left, the clock was set back. */
  isTooEarly(name: string): boolean {
    const { clock, mostMs } = this.options;
    const leftMs = (this.#failures.get(name)?.notBefore ?? 0) - clock.now();
    return leftMs > 0 && leftMs <= mostMs;
  }
}
