import { setTimeout as delay } from 'node:timers/promises';

/** Less than the timeout of a test, and more than a busy machine needs. */
const TIME_LIMIT_MS = 90_000;
const POLL_MS = 5;

/** Waits until a condition holds. Fails with `problem` after a time limit. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  problem: string | (() => string) = 'It did not happen',
): Promise<void> {
  const deadline = performance.now() + TIME_LIMIT_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(typeof problem === 'string' ? problem : problem());
    await delay(POLL_MS);
  }
}

/** Each call has a time limit, so a store that never recovers fails the test in the end. */
const MAX_ATTEMPTS = 30;

/** Repeats a call until it succeeds. Throws its last error after too many attempts. */
export async function retryUntilSuccess<Result>(
  call: () => Promise<Result>,
  maxAttempts = MAX_ATTEMPTS,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (attempt === maxAttempts) throw error;
    }
  }
}
