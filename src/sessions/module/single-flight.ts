/** Runs work once at a time. `stop` aborts running work and waits for it. */
export class SingleFlight<Result> {
  readonly #stopping = new AbortController();
  #running: Promise<Result> | undefined;

  /** @param work must not reject */
  constructor(private readonly work: (signal: AbortSignal) => Promise<Result>) {}

  get isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Returns `undefined` if the work is running already, or after `stop`. */
  async run(): Promise<Result | undefined> {
    if (this.#running || this.isStopped) return undefined;
    this.#running = this.work(this.#stopping.signal);
    try {
      return await this.#running;
    } finally {
      this.#running = undefined;
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }
}
