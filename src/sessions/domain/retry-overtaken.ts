import { setTimeout as delay } from 'node:timers/promises';
import { StaleSessionError } from './errors.js';

/** How often a write is tried while others come first. */
const MOST_ATTEMPTS = 60;
const PAUSES = { firstMs: 4, maxMs: 40 };

/**
 * Reads, decides and writes again while another writer comes first. The last error is thrown after a second or so.
 *
 * @param work reads what it writes on, each time
 * @param isOvertaken whether an error says that another write came first; default: a `StaleSessionError`
 *
 * @example await retryOvertaken(async () => save(changed(await load())));
 */
export async function retryOvertaken<Result>(
  work: (attempt: number) => Promise<Result>,
  isOvertaken: (error: unknown) => boolean = (error) => error instanceof StaleSessionError,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (attempt >= MOST_ATTEMPTS || !isOvertaken(error)) throw error;
    }
    await delay(pauseMs(attempt, Math.random()));
  }
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
