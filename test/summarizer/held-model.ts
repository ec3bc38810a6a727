import { until } from '../support/until.js';
import { ScriptedModel } from './summarized-sessions.js';

/** A model that answers only when the test calls `answer`. An abort rejects its calls. */
export class HeldModel extends ScriptedModel {
  readonly #waiting: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  #count = 0;

  /** @param word start of its answers; a number follows */
  constructor(word = 'summary') {
    super(async (_request, signal) => {
      await new Promise<void>((resolve, reject) => {
        this.#waiting.push({ resolve, reject });
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
      return { text: `${word} ${++this.#count}` };
    });
  }

  /** Waits until the model was called this many times in total. */
  async called(times: number): Promise<void> {
    await until(() => this.requests.length >= times);
  }

  /** Answers all pending calls. */
  answer(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }

  /** Fails all pending calls. */
  fail(error: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
