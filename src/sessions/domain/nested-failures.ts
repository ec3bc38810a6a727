/**
 * What operations threw while hooks ran. A hook that lets it through has not refused anything: it has failed. Nothing is noted unless a
 * hook runs, so that other operations are as fast as before.
 */
const failures = new WeakSet<object>();
let running = 0;

/** Notes what operations throw meanwhile. */
export async function whileHooksRun<Result>(hooks: () => Promise<Result>): Promise<Result> {
  running++;
  try {
    return await hooks();
  } finally {
    running--;
  }
}

/** The same promise, whose error is noted if a hook runs. */
export function withNotedFailure<Result>(work: Promise<Result>): Promise<Result> {
  if (running === 0) return work;
  return work.catch((error: unknown) => {
    throw noted(error);
  });
}

/** For checks before an operation begins. */
export function noted(error: unknown): unknown {
  if (running > 0 && typeof error === 'object' && error !== null) failures.add(error);
  return error;
}

/** Whether an operation threw this while a hook ran. */
export function isOfOperation(error: unknown): boolean {
  return typeof error === 'object' && error !== null && failures.has(error);
}
