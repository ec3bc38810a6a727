import { setImmediate } from 'node:timers';
import { remembered } from './storage/remembered.js';
import type { LogTail, TailRequest } from './storage/session-changes.js';
import type { SessionStorage } from './storage/session-storage.js';

/** How many events of a log are read together with other logs. */
export const MOST_TAIL_EVENTS = 16;
/** Logs in one call. */
const MOST_LOGS = 100;
/** A second one, so that a call that gets no answer does not hold all others up. */
const MOST_CALLS = 2;

/** What the store says, `'gone'` for a session that is gone, or nothing if the log has to be read by itself. */
export type TailAnswer = LogTail | 'gone' | undefined;

interface WaitingRead {
  readonly request: TailRequest;
  readonly answer: (answer: TailAnswer) => void;
}

/** Reads for many watches of a storage together: those that are woken at about the same time share a call. */
export class TailReads {
  readonly #waiting: WaitingRead[] = [];
  #calls = 0;
  #isScheduled = false;

  constructor(private readonly storage: SessionStorage) {}

  /** Never fails: whoever then reads the log by itself gets the error. */
  async read(request: TailRequest): Promise<TailAnswer> {
    return new Promise((answer) => {
      this.#waiting.push({ request, answer });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0 || this.#calls >= MOST_CALLS) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#call(this.#waiting.splice(0, MOST_LOGS));
      this.#schedule();
    });
  }

  async #call(reads: readonly WaitingRead[]): Promise<void> {
    this.#calls += 1;
    const tails = await this.#tailsOf(reads.map(({ request }) => request));
    this.#calls -= 1;
    for (const [index, { answer }] of reads.entries()) answer(tails && (tails[index] ?? 'gone'));
    this.#schedule();
  }

  async #tailsOf(requests: readonly TailRequest[]): Promise<readonly (LogTail | undefined)[] | undefined> {
    try {
      return await this.storage.tails(requests);
    } catch {
      return undefined;
    }
  }
}

/** The reads that all services over one storage share. */
export const tailReadsOf = remembered((storage: SessionStorage) => new TailReads(storage), new WeakMap());
