export interface SummaryQueueOptions {
  readonly concurrency: number;
  /** Names that wait at most; the others are left to those who look again later. */
  readonly mostWaiting: number;
  /** Never throws. */
  readonly run: (name: string, signal: AbortSignal) => Promise<void>;
}

interface RunningSummary {
  readonly ended: Promise<void>;
  /** One for each: a signal that lives as long as the app would remember whatever was made of it. */
  readonly stopping: AbortController;
}

/**
 * Work in the background: so many at a time, one at a time for each name, in the order in which they came. A name that
 * is there already waits once.
 */
export class SummaryQueue {
  readonly #options: SummaryQueueOptions;
  readonly #waiting = new Set<string>();
  readonly #running = new Map<string, RunningSummary>();
  #isClosed = false;

  constructor(options: SummaryQueueOptions) {
    this.#options = options;
  }

  get counts(): { waiting: number; running: number } {
    return { waiting: this.#waiting.size, running: this.#running.size };
  }

  /** Says whether it will run; when it does not fit in, others have to see to it. */
  add(name: string): boolean {
    if (this.#isClosed || this.#waiting.size >= this.#options.mostWaiting) return false;
    this.#waiting.add(name);
    this.#startNext();
    return true;
  }

  async whenEmpty(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(Array.from(this.#running.values(), ({ ended }) => ended));
  }

  /** Takes nothing more, gives what runs so long to end, then aborts it. What waited is left to others. */
  async close(limitMs: number): Promise<void> {
    this.#isClosed = true;
    this.#waiting.clear();
    const timer = setTimeout(() => this.#abort(new Error('the app is closing')), limitMs);
    await this.whenEmpty();
    clearTimeout(timer);
  }

  #startNext(): void {
    for (const name of this.#waiting) {
      if (this.#running.size >= this.#options.concurrency) return;
      if (this.#running.has(name)) continue;
      this.#waiting.delete(name);
      const stopping = new AbortController();
      this.#running.set(name, { ended: this.#run(name, stopping.signal), stopping });
    }
  }

  #abort(reason: Error): void {
    for (const { stopping } of this.#running.values()) stopping.abort(reason);
  }

  async #run(name: string, signal: AbortSignal): Promise<void> {
    await this.#options.run(name, signal);
    this.#running.delete(name);
    this.#startNext();
  }
}
