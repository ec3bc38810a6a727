/**
 * Runs work of the same key one after the other, and work of different keys beside each other.
 *
 * @example await queue.run(sessionNameOf(key), () => append(key, entries));
 */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const run = (this.#last.get(key) ?? Promise.resolve()).then(work);
    const settled = run.catch(() => undefined);
    this.#last.set(key, settled);
    void settled.then(() => {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    });
    return run;
  }

  /** Waits for running work. */
  async settled(): Promise<void> {
    await Promise.all(this.#last.values());
  }
}
