/** Work that runs once at a time, until it is stopped: what runs then is told so, and waited for. */
export class OneAtATime<Result> {
  readonly #stopping = new AbortController();
  #running: Promise<Result> | undefined;

  /** @param work never fails */
  constructor(private readonly work: (signal: AbortSignal) => Promise<Result>) {}

  get isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Answers nothing where it runs already, or was stopped. */
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
