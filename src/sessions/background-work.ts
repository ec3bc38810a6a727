/** Work that goes on after its caller was answered: counted, so that a shutdown can wait for it. */
export class BackgroundWork {
  readonly #running = new Set<Promise<void>>();

  /** @param report is told of every failure, since nobody waits for the work itself */
  constructor(private readonly report: (error: unknown) => void) {}

  add(work: Promise<void>): void {
    const watched = work.catch(this.report).finally(() => this.#running.delete(watched));
    this.#running.add(watched);
  }

  /** Waits until nothing is left, also of what is added meanwhile. */
  async finished(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
