import { setTimeout as wait } from 'node:timers/promises';

/** How often a write is tried while others are faster. */
export const MOST_ATTEMPTS = 60;
const PAUSES = { firstMs: 4, maxMs: 40 };

/** Waits before the next attempt of a write that another one overtook. */
export async function pauseAfter(attempt: number): Promise<void> {
  await wait(pauseMs(attempt, Math.random()));
}

/**
 * Anything from none to the longest pause of this attempt: writers that met wait for different times, so that they do not meet
 * again. A pause that differs only by a part of it would leave them together.
 *
 * @param random 0 to 1
 */
export function pauseMs(attempt: number, random: number): number {
  return random * Math.min(PAUSES.maxMs, PAUSES.firstMs * 2 ** (attempt - 1));
}
