import type { WatchedEvent } from '../../index.js';

/** An event of a watch with partial events. */
export type LiveEvent = WatchedEvent & { readonly position?: string; readonly offset?: number };

/** Nothing happened for a while, or what was waited for happened. */
export const TICK = Symbol('tick');

/** Reads a watch, and stops waiting when something else happens. */
export class InterruptibleWatch {
  #next: Promise<IteratorResult<LiveEvent, unknown>> | undefined;

  constructor(private readonly watch: AsyncIterator<LiveEvent, unknown>) {}

  /** `undefined` when the watch is over. @param other stops the wait */
  async next(other?: Promise<unknown>): Promise<LiveEvent | typeof TICK | undefined> {
    this.#next ??= this.watch.next();
    const next = this.#next;
    next.catch(() => undefined);
    const first = other
      ? await Promise.race([
          next,
          other.then(
            () => TICK,
            () => TICK,
          ),
        ])
      : await next;
    if (first === TICK) return TICK;
    this.#next = undefined;
    const { done, value } = first as IteratorResult<LiveEvent, unknown>;
    return done === true ? undefined : value;
  }

  async close(): Promise<void> {
    await this.watch.return?.();
  }
}
