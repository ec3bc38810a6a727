/** Lets so many at a time do what costs a model, in the order in which they came; whoever gives up while waiting has not begun. */
export class ModelTurns {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(most: number) {
    this.#free = most;
  }

  async take<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    await this.#begin(signal);
    try {
      return await work();
    } finally {
      this.#end();
    }
  }

  async #begin(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.delete(begin);
        reject(signal.reason as Error);
      };
      this.#waiting.add(begin);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** The turn goes on to who waits longest. */
  #end(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
