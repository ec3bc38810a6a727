import { InvocationStop } from '../turn/turn-news.js';

/** What runs in this process, until it closes. */
export class RunProcess {
  readonly #draining = new AbortController();
  readonly #closing = new AbortController();
  readonly #work = new Set<Promise<unknown>>();

  /** Aborts when it begins to close: what waits is left to others. */
  get draining(): AbortSignal {
    return this.#draining.signal;
  }

  /** Aborts when there is no more time: what works is left to others. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Waits for this work when it closes. */
  keep(work: Promise<unknown>): void {
    this.#work.add(work);
    const forget = (): void => void this.#work.delete(work);
    void work.then(forget, forget);
  }

  async close(drainMs: number): Promise<void> {
    const why = new InvocationStop('handed over');
    this.#draining.abort(why);
    const timer = setTimeout(() => this.#closing.abort(why), drainMs);
    // Those at work may begin others.
    while (this.#work.size > 0) await Promise.allSettled(this.#work);
    clearTimeout(timer);
  }
}
