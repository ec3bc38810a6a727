/** How often a shutdown that waits says for what. */
const SAY_EVERY_MS = 5_000;

/** Tracks running work, so that a shutdown can wait for it. */
export class TaskTracker {
  #running = 0;
  /** How much of that has a name. */
  readonly #named = new Map<string, number>();
  #idle: (() => void)[] = [];
  #closings = 0;
  #saying: NodeJS.Timeout | undefined;

  /** @param report receives failures of background work, and what a shutdown waits for */
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

  /**
   * Names work of the app that is tracked, since it may hang.
   *
   * @param name such as `hook of onAfterAppend`
   */
  name<Result>(name: string, work: Promise<Result>): Promise<Result> {
    this.#named.set(name, (this.#named.get(name) ?? 0) + 1);
    const ended = (): void => {
      const left = (this.#named.get(name) ?? 0) - 1;
      if (left > 0) this.#named.set(name, left);
      else this.#named.delete(name);
    };
    work.then(ended, ended);
    return work;
  }

  /** Waits until no work is left, including work that is added while it waits. */
  async whenIdle(): Promise<void> {
    while (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Waits for a part of the shutdown. If it takes long, says every few seconds what has not ended: it may never end. */
  async whileClosing<Result>(closing: Promise<Result>): Promise<Result> {
    // Parts may wait for each other, and share the timer.
    if (this.#closings++ === 0) this.#saying = this.#sayOften();
    try {
      return await closing;
    } finally {
      if (--this.#closings === 0) clearInterval(this.#saying);
    }
  }

  #sayOften(): NodeJS.Timeout {
    let seconds = 0;
    const say = (): void => {
      seconds += SAY_EVERY_MS / 1_000;
      this.trackInBackground(Promise.reject(new Error(this.#waitText(seconds))));
    };
    return setInterval(say, SAY_EVERY_MS).unref();
  }

  #waitText(seconds: number): string {
    const named = Array.from(this.#named, ([name, count]) => `${count} × ${name}`);
    const said = named.length > 0 ? named.join(', ') : `${this.#running} × other work`;
    return `Closing has waited for ${seconds} seconds. This has not ended yet: ${said}.`;
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
