import { until } from '../support/until.js';
import { ScriptedModel } from './summarized-sessions.js';

/** A model that answers when the test calls `answer`. An abort ends it. */
export class HeldModel extends ScriptedModel {
  readonly #waiting: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  #count = 0;

  /** @param word what its answers begin with; a number follows */
  constructor(word = 'summary') {
    super(async (_request, signal) => {
      await new Promise<void>((resolve, reject) => {
        this.#waiting.push({ resolve, reject });
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
      return { text: `${word} ${++this.#count}` };
    });
  }

  /** Waits until it was called this many times in total. */
  async asked(times: number): Promise<void> {
    await until(() => this.requests.length >= times);
  }

  /** Answers all calls so far. */
  answer(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }

  /** Fails all calls so far. */
  fail(error: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
