import { setImmediate as turnOfOthers } from 'node:timers/promises';

/** How long work may take without a pause in which others work: requests of other users, timers, and what stops this work. */
const LONGEST_MS = 10;

/** Leaves the event loop to others now and then, for work that may wait for nothing, as of a handler that has all its pieces, or in memory. */
export class EventLoopShare {
  #since = performance.now();

  async leaveToOthers(): Promise<void> {
    if (performance.now() - this.#since < LONGEST_MS) return;
    await turnOfOthers();
    this.#since = performance.now();
  }
}
