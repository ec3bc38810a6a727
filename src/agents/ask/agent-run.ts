import type { RunEvent, RunEvents } from '../turn/run-events.js';
import type { RunResult } from './run-request.js';

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
  readonly #events: RunEvents;

  constructor(
    readonly invocationId: string,
    readonly sessionId: string,
    events: RunEvents,
    result: Promise<RunResult>,
  ) {
    this.#events = events;
    this.result = result.finally(() => events.end());
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
    yield* this.#events.read(signal);
    if (this.#events.isOver) await this.result;
  }
}
