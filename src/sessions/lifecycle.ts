/** Tracks running work, so that a shutdown can wait for it. */
export class TaskTracker {
  readonly #running = new Set<Promise<unknown>>();

  /** @param report receives failures of background work */
  constructor(private readonly report: (error: unknown) => void) {}

  /** Tracks work that its caller awaits. */
  track<Result>(work: Promise<Result>): Promise<Result> {
    const watched = work.catch(() => undefined).finally(() => this.#running.delete(watched));
    this.#running.add(watched);
    return work;
  }

  /** Tracks work that continues after its caller got a result. */
  trackInBackground(work: Promise<void>): void {
    void this.track(work.catch(this.report));
  }

  /** Waits until no work is left, including work that is added while it waits. */
  async whenIdle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}

/** Tells waiting operations that the service shuts down. */
export class ShutdownSignal {
  readonly #listeners = new Set<() => void>();
  #hasBegun = false;

  get isRequested(): boolean {
    return this.#hasBegun;
  }

  request(): void {
    this.#hasBegun = true;
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` at shutdown. Returns a function that removes it. */
  onRequest(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
