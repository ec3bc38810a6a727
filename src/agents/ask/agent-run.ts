import type { LoggedEvent } from '../../sessions/domain/event.js';
import type { RunEvent } from '../turn/run-event.js';
import type { RunResult } from './run-request.js';

/** The most partial events that wait for a slow reader. Older ones are left out: the final event has the whole text. */
const MAX_PARTIALS = 1_000;

/**
 * A run. It goes on whether or not somebody reads its events: `stop`, its signal or a message of another request end it.
 *
 * @example
 * const run = agents.run({ appName: 'shop', userId: 'ann', sessionId, newMessage: 'Hello' }, answer);
 * for await (const event of run) show(event);
 * const { status, session } = await run.result;
 */
export class AgentRun implements AsyncIterable<RunEvent> {
  /** Resolves when the run is over. Rejects if it could not begin, or if the handler failed. */
  readonly result: Promise<RunResult>;
  readonly #stored: LoggedEvent[] = [];
  readonly #readers = new Set<RunReader>();
  #isOver = false;

  /** @param work tells each event to its argument */
  constructor(
    readonly invocationId: string,
    readonly sessionId: string,
    work: (tell: (event: RunEvent) => void) => Promise<RunResult>,
  ) {
    this.result = work((event) => this.#tell(event)).finally(() => {
      this.#isOver = true;
      for (const reader of this.#readers) reader.wake();
    });
    // A reader of the events gets the error; the caller need not read the result.
    this.result.catch(() => undefined);
  }

  /** The events from the beginning. Throws what `result` rejects with. Stopping to read does not stop the run. */
  [Symbol.asyncIterator](): AsyncGenerator<RunEvent, void> {
    return this.read();
  }

  /**
   * The same, until `signal` aborts, which ends it without error.
   * @example for await (const event of run.read({ signal })) send(event);
   */
  async *read({ signal }: { readonly signal?: AbortSignal } = {}): AsyncGenerator<RunEvent, void> {
    const reader = new RunReader(this.#stored);
    const wake = (): void => reader.wake();
    this.#readers.add(reader);
    signal?.addEventListener('abort', wake);
    try {
      for (;;) {
        if (signal?.aborted === true) break;
        const event = reader.take();
        if (event) yield event;
        else if (this.#isOver) break;
        else await reader.wait();
      }
      if (this.#isOver) await this.result;
    } finally {
      signal?.removeEventListener('abort', wake);
      this.#readers.delete(reader);
    }
  }

  #tell(event: RunEvent): void {
    if (event.partial !== true) {
      // Who followed another process, and goes on with its work, has it already.
      if (event.seq <= (this.#stored.at(-1)?.seq ?? 0)) return;
      this.#stored.push(event);
    }
    for (const reader of this.#readers) reader.add(event);
  }
}

/** What a reader has not read yet. */
class RunReader {
  readonly #waiting: RunEvent[];
  #partials = 0;
  #resolve: (() => void) | undefined;

  constructor(events: readonly RunEvent[]) {
    this.#waiting = [...events];
  }

  add(event: RunEvent): void {
    this.#waiting.push(event);
    if (event.partial === true && ++this.#partials > MAX_PARTIALS) {
      this.#waiting.splice(
        this.#waiting.findIndex(({ partial }) => partial === true),
        1,
      );
      this.#partials -= 1;
    }
    this.wake();
  }

  take(): RunEvent | undefined {
    const event = this.#waiting.shift();
    if (event?.partial === true) this.#partials -= 1;
    return event;
  }

  wake(): void {
    this.#resolve?.();
  }

  async wait(): Promise<void> {
    await new Promise<void>((resolve) => (this.#resolve = resolve));
  }
}
