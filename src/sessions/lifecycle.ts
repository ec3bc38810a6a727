/** How often a shutdown that waits says for what. */
const SAY_EVERY_MS = 5_000;

/** How often a shutdown waits for what the work before has left to the background: a hook may append, and call hooks again. */
const MOST_STEPS = 10;

/** Work that began in the same step of a shutdown, or before it. */
class WorkOfStep {
  running = 0;
  #idle: (() => void)[] = [];

  /** One function for all work: the promise of each call is the only thing to allocate. */
  readonly finished = (): void => {
    if (--this.running > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  };

  async whenIdle(): Promise<void> {
    while (this.running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }
}

/** Tracks running work, so that a shutdown can wait for it. */
export class TaskTracker {
  /** Of earlier steps, those that have not ended. */
  #earlier: readonly WorkOfStep[] = [];
  #current = new WorkOfStep();
  /** How much of that has a name. */
  readonly #named = new Map<string, number>();
  #closings = 0;
  #saying: NodeJS.Timeout | undefined;

  /** @param report receives failures of background work, and what a shutdown waits for */
  constructor(private readonly report: (error: unknown) => void) {}

  /** Tracks work that its caller awaits. */
  track<Result>(work: Promise<Result>): Promise<Result> {
    const { finished } = this.#current;
    this.#current.running++;
    work.then(finished, finished);
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
    for (let left = this.#unfinished(); left.length > 0; left = this.#unfinished()) {
      await Promise.all(left.map((work) => work.whenIdle()));
    }
  }

  /** Waits for the work that runs now, and for what that leaves to the background, but not for calls that go on coming. */
  async whenDone(): Promise<void> {
    for (let step = 0; step < MOST_STEPS; step++) {
      const left = this.#unfinished();
      if (left.length === 0) return;
      this.#earlier = left;
      this.#current = new WorkOfStep();
      await Promise.all(left.map((work) => work.whenIdle()));
    }
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

  #unfinished(): readonly WorkOfStep[] {
    return [...this.#earlier, this.#current].filter(({ running }) => running > 0);
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
    const said =
      named.length > 0
        ? named.join(', ')
        : `${this.#unfinished().reduce((sum, { running }) => sum + running, 0)} × other work`;
    return `Closing has waited for ${seconds} seconds. This has not ended yet: ${said}.`;
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
