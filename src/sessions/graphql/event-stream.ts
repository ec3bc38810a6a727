import type { LoggedEvent } from '../domain/event.js';
import { graphqlErrorOf } from './graphql-errors.js';

type Watch = AsyncIterableIterator<LoggedEvent>;
type Result = IteratorResult<LoggedEvent, undefined>;

const OVER = { done: true, value: undefined } as const;

/** A watch as a subscription: it may still be opening, and its errors are those of GraphQL. */
export class EventStream implements AsyncIterableIterator<LoggedEvent> {
  #isOver = false;
  #endWaiting = (): void => undefined;
  /** Nobody wants more. */
  readonly #returned = new Promise<void>((resolve) => (this.#endWaiting = resolve));

  constructor(private readonly opening: Promise<Watch>) {
    // Whoever takes the first event hears of a failure.
    opening.catch(() => undefined);
  }

  async next(): Promise<Result> {
    try {
      const watch = await this.opening;
      const result: Result = this.#isOver ? OVER : await watch.next();
      // Only the end of the server ends a watch, and whoever is told that all is complete does not come again; so their connection is cut.
      if (result.done === true) await this.#returned;
      return result;
    } catch (error) {
      throw graphqlErrorOf(error);
    }
  }

  /** Ends the watch also while somebody waits for its next event, or for its beginning. */
  async return(): Promise<Result> {
    this.#isOver = true;
    this.#endWaiting();
    void this.opening.then(
      (watch) => watch.return?.(),
      () => undefined,
    );
    return OVER;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
