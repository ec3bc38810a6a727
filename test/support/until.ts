import { setTimeout as delay } from 'node:timers/promises';

/** Less than the time limit of a test, and so long that a busy machine does not reach it. */
const PATIENCE_MS = 90_000;
const POLL_MS = 5;

/** Waits until a condition holds; fails with `complaint` where it never does. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  complaint: string | (() => string) = 'It did not happen',
): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > giveUpAt) throw new Error(typeof complaint === 'string' ? complaint : complaint());
    await delay(POLL_MS);
  }
}
