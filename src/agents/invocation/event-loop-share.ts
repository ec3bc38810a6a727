import { setImmediate as turnOfOthers } from 'node:timers/promises';

/** How long a run may work without a pause in which others work: requests of other users, timers, and the stop of this run. */
const LONGEST_MS = 10;

/** Leaves the event loop to others now and then, for work that may wait for nothing, as a handler does that has all its pieces. */
export class EventLoopShare {
  #since = performance.now();

  async leaveToOthers(): Promise<void> {
    if (performance.now() - this.#since < LONGEST_MS) return;
    await turnOfOthers();
    this.#since = performance.now();
  }
}
