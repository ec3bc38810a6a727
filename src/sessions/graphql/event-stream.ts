import { setImmediate as turnOfOthers } from 'node:timers/promises';
import type { LoggedEvent } from '../domain/event.js';
import type { StreamAccess } from '../transport/stream-access.js';
import { graphqlErrorOf } from './graphql-errors.js';

type Watch = AsyncIterableIterator<LoggedEvent>;
type Result = IteratorResult<LoggedEvent, undefined>;

const OVER = { done: true, value: undefined } as const;

/** Adapts a watch to a subscription, with GraphQL errors. */
export class EventStream implements AsyncIterableIterator<LoggedEvent> {
  #isOver = false;
  #endWaiting = (): void => undefined;
  /** Resolved when the subscriber leaves. */
  readonly #returned = new Promise<void>((resolve) => (this.#endWaiting = resolve));

  constructor(
    private readonly watch: Watch,
    private readonly access: StreamAccess,
  ) {}

  async next(): Promise<Result> {
    try {
      const result: Result = this.#isOver ? OVER : await this.watch.next();
      // Yields to the event loop. Otherwise the close of a connection is not noticed while there are events.
      await turnOfOthers();
      if (!this.#isOver && this.access.signal.aborted) throw this.access.signal.reason;
      // A watch only ends with the server. A client that gets `complete` does not reconnect, so its connection is cut instead.
      if (result.done === true) await this.#returned;
      return result;
    } catch (error) {
      this.access.close();
      throw graphqlErrorOf(error);
    }
  }

  /** Ends the watch, also while `next()` is pending. */
  async return(): Promise<Result> {
    this.#isOver = true;
    this.access.close();
    this.#endWaiting();
    void this.watch.return?.();
    return OVER;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
