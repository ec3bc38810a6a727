/** Limits how many tasks run at the same time. Waiting tasks start in the order in which they came. */
export class Semaphore {
  #free: number;
  readonly #waiting = new Set<() => void>();
  readonly #tasks = new Set<Promise<unknown>>();

  constructor(permits: number) {
    this.#free = permits;
  }

  get hasRoom(): boolean {
    return this.#free > 0;
  }

  /** Waits for a permit, runs `work` and returns the permit. Throws the reason of `signal` if it is aborted first. */
  async run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const task = this.#withPermit(work, signal);
    this.#tasks.add(task);
    try {
      return await task;
    } finally {
      this.#tasks.delete(task);
    }
  }

  /** Waits for running and waiting tasks, and for tasks that they add. */
  async finished(): Promise<void> {
    while (this.#tasks.size > 0) await Promise.allSettled(this.#tasks);
  }

  async #withPermit<Result>(work: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
    signal?.throwIfAborted();
    if (this.hasRoom) this.#free--;
    else await this.#permit(signal);
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  async #permit(signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const start = (): void => {
        signal?.removeEventListener('abort', cancel);
        resolve();
      };
      const cancel = (): void => {
        this.#waiting.delete(start);
        reject(signal?.reason as Error);
      };
      this.#waiting.add(start);
      signal?.addEventListener('abort', cancel, { once: true });
    });
  }

  /** Passes the permit on to the task that has waited longest. */
  #release(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
