import { setTimeout as delay } from 'node:timers/promises';
import { ScriptedModel } from './summarized-sessions.js';

/** Answers when a test says so, and not before; unless it is told to stop. */
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

  /** Waits until it was asked so often in all. */
  async asked(times: number): Promise<void> {
    await until(() => this.requests.length >= times);
  }

  /** Lets it answer all that it was asked until now. */
  answer(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }

  /** The same with an error in place of an answer. */
  fail(error: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}

/** Waits for what happens in the background. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const start = performance.now(); !(await isSo());) {
    if (performance.now() - start > LONGEST_WAIT_MS) throw new Error('It did not happen');
    await delay(2);
  }
}

/** For a busy machine. */
const LONGEST_WAIT_MS = 20_000;
