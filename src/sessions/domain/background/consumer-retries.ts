import { backoffMs } from '../process/backoff.js';

/** When and how often a failed event is tried again. */
export interface RetrySettings {
  /** After this many failed tries, an event becomes a dead letter. */
  readonly maxTries: number;
  /** The pause after the first failure. It doubles with each failure. */
  readonly firstRetryMs: number;
  readonly maxRetryMs: number;
}

/** The consequence of a failure: the event becomes a dead letter, or its session waits. */
export type AfterFailure = { readonly isDead: true } | { readonly isDead: false; readonly pauseMs: number };

/**
 * Decides the consequence of a failure.
 *
 * @param tries the failed tries of the event, this one included
 * @param random 0 to 1, so that sessions that failed together are not retried together
 */
export function afterFailure(tries: number, { maxTries, ...pauses }: RetrySettings, random: number): AfterFailure {
  if (tries >= maxTries) return { isDead: true };
  return { isDead: false, pauseMs: retryPauseMs(tries, pauses, random) };
}

/**
 * The pause after failures in a row.
 *
 * @param random 0 to 1, so that what failed together is not retried together
 */
export function retryPauseMs(
  failures: number,
  { firstRetryMs, maxRetryMs }: Omit<RetrySettings, 'maxTries'>,
  random: number,
): number {
  return backoffMs(failures, { firstMs: firstRetryMs, maxMs: maxRetryMs }, random);
}
