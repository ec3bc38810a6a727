import { type Failure, failureOf } from './failures.js';

/** Reads one thing at a time, and says whether it does, and why the last one failed. */
export class Reading {
  #isRunning = false;
  #failure: Failure | undefined;

  /** @param onChange is told of each change */
  constructor(private readonly onChange: () => void) {}

  get isRunning(): boolean {
    return this.#isRunning;
  }

  get failure(): Failure | undefined {
    return this.#failure;
  }

  /** Nothing while something is read. */
  async run(read: () => Promise<void>): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#failure = undefined;
    this.onChange();
    try {
      await read();
    } catch (error) {
      this.#failure = failureOf(error);
    } finally {
      this.#isRunning = false;
      this.onChange();
    }
  }
}
