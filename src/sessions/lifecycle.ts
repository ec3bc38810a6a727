/** Tracks running work, so that a shutdown can wait for it. */
export class TaskTracker {
  #running = 0;
  #idle: (() => void)[] = [];

  /** @param report receives failures of background work */
  constructor(private readonly report: (error: unknown) => void) {}

  /** Tracks work that its caller awaits. */
  track<Result>(work: Promise<Result>): Promise<Result> {
    this.#running++;
    work.then(this.#finished, this.#finished);
    return work;
  }

  /** Tracks work that continues after its caller got a result. */
  trackInBackground(work: Promise<void>): void {
    void this.track(work.catch(this.report));
  }

  /** Waits until no work is left, including work that is added while it waits. */
  async whenIdle(): Promise<void> {
    while (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** One function for all work: the promise of each call is the only thing to allocate. */
  readonly #finished = (): void => {
    if (--this.#running > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  };
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
