import { setImmediate } from 'node:timers';
import { setImmediate as turnOfOthers } from 'node:timers/promises';

/** How long the process may work without a pause in which others work: requests of other users, timers, and what stops this work. */
const LONGEST_MS = 10;

/** Since when nobody else has worked: the first look after their last turn. */
let since: number | undefined;

/**
 * Whether it is the turn of others. For work that may wait for nothing, as of a handler that has all its pieces, or in memory and in SQLite:
 * promises alone let no timer and no socket in.
 */
export function isTurnOfOthers(): boolean {
  if (since !== undefined) return performance.now() - since >= LONGEST_MS;
  since = performance.now();
  setImmediate(begin);
  return false;
}

/** What waits for others now. All of it goes on together, so that appends stay one batch. */
let pause: Promise<void> | undefined;

/** Leaves the event loop to others if it is their turn. */
export async function leaveToOthers(): Promise<void> {
  if (isTurnOfOthers()) await (pause ??= pauseForOthers());
}

async function pauseForOthers(): Promise<void> {
  await turnOfOthers();
  pause = undefined;
}

function begin(): void {
  since = undefined;
}
