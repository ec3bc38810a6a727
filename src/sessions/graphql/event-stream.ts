import { setImmediate as turnOfOthers } from 'node:timers/promises';
import type { LoggedEvent } from '../domain/event/event.js';
import type { StreamAccess } from '../transport/stream-access.js';
import { graphqlErrorOf } from './graphql-errors.js';

const OVER = { done: true, value: undefined } as const;

/** Adapts a watch, or a run, to a subscription, with GraphQL errors. */
export class EventStream<Event = LoggedEvent> implements AsyncIterableIterator<Event> {
  #isOver = false;
  #endWaiting = (): void => undefined;
  /** Resolved when the subscriber leaves. */
  readonly #returned = new Promise<void>((resolve) => (this.#endWaiting = resolve));

  constructor(
    private readonly watch: AsyncIterator<Event>,
    private readonly access: StreamAccess,
    /** Whether clients get `complete` at the end. A watch only ends with the server. */
    private readonly hasEnd = false,
  ) {}

  async next(): Promise<IteratorResult<Event, undefined>> {
    try {
      const result = this.#isOver ? OVER : await this.watch.next();
      // Yields to the event loop. Otherwise the close of a connection is not noticed while there are events.
      await turnOfOthers();
      if (!this.#isOver && this.access.signal.aborted) throw this.access.signal.reason;
      // A client that gets `complete` does not reconnect, so its connection is cut instead.
      if (result.done === true && !this.hasEnd) await this.#returned;
      if (result.done !== true) return result;
      this.access.close();
      return OVER;
    } catch (error) {
      this.access.close();
      throw graphqlErrorOf(error, this.access.place);
    }
  }

  /** Ends the watch, also while `next()` is pending. */
  async return(): Promise<IteratorResult<Event, undefined>> {
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
