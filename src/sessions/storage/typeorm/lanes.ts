/** Runs so many pieces of work at a time; others wait for their turn. */
export class Lanes {
  #running = 0;
  readonly #queue: (() => void)[] = [];
  readonly #underWay = new Set<Promise<void>>();

  constructor(private readonly count: number) {}

  get hasRoom(): boolean {
    return this.#running < this.count;
  }

  async run(work: () => Promise<void>): Promise<void> {
    const running = this.#inTurn(work);
    this.#underWay.add(running);
    await running.finally(() => this.#underWay.delete(running));
  }

  /** Waits for all that runs or waits, and for what comes meanwhile. */
  async finished(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    if (this.hasRoom) this.#running += 1;
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
    try {
      await work();
    } finally {
      // Whoever is next takes over the place.
      const next = this.#queue.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}
