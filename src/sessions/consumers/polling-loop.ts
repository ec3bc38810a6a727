export interface PollingLoopOptions {
  /** Runs once per round. Returns `false` to run again soon. */
  readonly work: (stopping: AbortSignal) => Promise<boolean>;
  readonly pollMs: number;
  /** Minimum pause between two rounds, so that many wake-ups cause one round. */
  readonly pauseMs: number;
  readonly onError: (error: unknown) => void;
}

const LONGEST_PAUSE_MS = 30_000;

/** Runs work at an interval, and immediately after `wake`. */
export class PollingLoop {
  readonly #stopping = new AbortController();
  readonly #ended: Promise<void>;
  #isWoken = false;
  #endWait: (() => void) | undefined;

  constructor(private readonly options: PollingLoopOptions) {
    this.#ended = this.#run();
  }

  wake(): void {
    this.#isWoken = true;
    this.#endWait?.();
  }

  /** Stops, and waits for the current round. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#endWait?.();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { work, pollMs, pauseMs, onError } = this.options;
    for (let failures = 0; !this.#stopping.signal.aborted;) {
      this.#isWoken = false;
      let isDone = true;
      try {
        isDone = await work(this.#stopping.signal);
        failures = 0;
      } catch (error) {
        failures++;
        onError(error);
      }
      if (failures > 0) await this.#wait(Math.min(LONGEST_PAUSE_MS, pollMs * 2 ** failures), false);
      else await this.#wait(isDone ? pollMs : Math.min(pollMs, RETRY_MS), true);
      if (pauseMs > 0 && this.#isWoken) await this.#wait(pauseMs, false);
    }
  }

  /** @param isWakeable whether `wake` ends the wait */
  async #wait(milliseconds: number, isWakeable: boolean): Promise<void> {
    if (this.#stopping.signal.aborted || (isWakeable && this.#isWoken)) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#endWait = () => {
        if (!isWakeable && !this.#stopping.signal.aborted) return;
        clearTimeout(timer);
        resolve();
      };
    });
    this.#endWait = undefined;
  }
}

const RETRY_MS = 100;
