/** Work that is under way: counted, so that a shutdown can wait for it. */
export class RunningWork {
  readonly #running = new Set<Promise<unknown>>();

  /** @param report is told of failures in the background, where nobody waits for the work itself */
  constructor(private readonly report: (error: unknown) => void) {}

  /** Work that its caller waits for. */
  track<Result>(work: Promise<Result>): Promise<Result> {
    const watched = work.catch(() => undefined).finally(() => this.#running.delete(watched));
    this.#running.add(watched);
    return work;
  }

  /** Work that goes on after its caller was answered. */
  addInBackground(work: Promise<void>): void {
    void this.track(work.catch(this.report));
  }

  /** Waits until nothing is left, also of what is added meanwhile. */
  async finished(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
