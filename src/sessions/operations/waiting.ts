import type { SessionEnvironment } from '../session-environment.js';
import type { LogReference } from '../storage/session-changes.js';

/** Waits for a log to go on, or for an end. It listens until it is stopped, and leaves nothing behind. */
export class Waiting {
  readonly #stops: (() => void)[];
  #isWoken = false;
  #wake: (() => void) | undefined;

  /** @param seq the last event that is known */
  constructor(
    { signals, watchedLogs, closing }: SessionEnvironment,
    log: LogReference,
    seq: number,
    signal: AbortSignal | undefined,
  ) {
    const end = (): void => this.end();
    signal?.addEventListener('abort', end);
    this.#stops = [
      signals.subscribe(log.key, end),
      watchedLogs.add(log, { seq, wake: end }),
      closing.onBegin(end),
      () => signal?.removeEventListener('abort', end),
    ];
  }

  /** What was heard before this is of no interest. */
  expect(): void {
    this.#isWoken = false;
  }

  /** Waits until something is heard, also since {@link expect}. */
  async done(): Promise<void> {
    if (this.#isWoken) return;
    await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#wake = undefined;
  }

  /** Ends the waiting now. */
  end(): void {
    this.#isWoken = true;
    this.#wake?.();
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }
}
