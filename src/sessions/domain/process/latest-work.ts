/**
 * Works for each key on one value at a time. Of the values that come meanwhile, only the last one is worked on afterwards.
 *
 * @example await saves.run(name, record, (latest) => save(latest));
 */
export class LatestWork<Value> {
  /** What comes next, of each key at work. */
  readonly #next = new Map<string, Value | undefined>();

  /** Ends when nothing is left to do; at once if work runs, which then goes on with this value. A failure ends it. */
  async run(key: string, value: Value, work: (latest: Value) => Promise<void>): Promise<void> {
    if (this.#next.has(key)) {
      this.#next.set(key, value);
      return;
    }
    try {
      for (let latest: Value | undefined = value; latest !== undefined; latest = this.#next.get(key)) {
        this.#next.set(key, undefined);
        await work(latest);
      }
    } finally {
      this.#next.delete(key);
    }
  }
}
