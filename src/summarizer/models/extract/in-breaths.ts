import { setImmediate } from 'node:timers/promises';

const ITEMS_PER_BREATH = 1_000;

/** Visits all items and lets others have their turn in between: an app that summarizes goes on answering. */
export async function inBreaths<T>(items: Iterable<T>, signal: AbortSignal, visit: (item: T) => void): Promise<void> {
  let visited = 0;
  for (const item of items) {
    if (visited % ITEMS_PER_BREATH === 0) {
      await setImmediate();
      signal.throwIfAborted();
    }
    visited += 1;
    visit(item);
  }
}
