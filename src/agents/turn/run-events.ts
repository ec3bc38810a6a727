import type { EventLike, LoggedEvent } from '../../sessions/domain/event/event.js';

/** An event of a run: stored, with its `seq`, or partial, with how many characters of its message come before. */
export type RunEvent = LoggedEvent | (EventLike & { readonly partial: true; readonly offset?: number });

/** The most partial events that wait for a slow reader. Older ones are left out: the final event has the whole text. */
const MAX_PARTIALS = 1_000;

/** The events of a run: who works on it adds them, and any number of readers read them. */
export class RunEvents {
  readonly #stored: LoggedEvent[] = [];
  readonly #readers = new Set<RunReader>();
  #isOver = false;

  get isOver(): boolean {
    return this.#isOver;
  }

  add(event: RunEvent): void {
    if (event.partial !== true) {
      // Who followed another process, and goes on with its work, has it already.
      if (event.seq <= (this.#stored.at(-1)?.seq ?? 0)) return;
      this.#stored.push(event);
    }
    for (const reader of this.#readers) reader.add(event);
  }

  /** Nothing follows. */
  end(): void {
    this.#isOver = true;
    for (const reader of this.#readers) reader.wake();
  }

  /** Those from the beginning, until the end, or until `signal` aborts. */
  async *read(signal: AbortSignal | undefined): AsyncGenerator<RunEvent, void> {
    const reader = new RunReader(this.#stored);
    const wake = (): void => reader.wake();
    this.#readers.add(reader);
    signal?.addEventListener('abort', wake);
    try {
      for (;;) {
        if (signal?.aborted === true) return;
        const event = reader.take();
        if (event) yield event;
        else if (this.#isOver) return;
        else await reader.wait();
      }
    } finally {
      signal?.removeEventListener('abort', wake);
      this.#readers.delete(reader);
    }
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
