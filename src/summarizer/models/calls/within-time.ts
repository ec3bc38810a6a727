export interface TimeLimits {
  readonly limitMs: number;
  /** Ends it early, with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** What is thrown when the time is up. */
  readonly lateError?: ((limitMs: number) => Error) | undefined;
}

/**
 * Ends when `work` does, when the time is up or when `signal` is aborted, whatever the work makes of the signal that
 * it gets. Leaves no timer and no listener.
 */
export async function withinTime<Result>(
  { limitMs, signal, lateError = noAnswer }: TimeLimits,
  work: (signal: AbortSignal) => Result | Promise<Result>,
): Promise<Result> {
  signal?.throwIfAborted();
  const ending = new AbortController();
  // Not `AbortSignal.any`: a signal that lives as long as the app would remember every call.
  const passOn = (): void => ending.abort(signal?.reason);
  const timeIsUp = (): void => ending.abort(lateError(limitMs));
  const timer = setTimeout(timeIsUp, limitMs);
  signal?.addEventListener('abort', passOn, { once: true });
  try {
    return await Promise.race([abortOf(ending.signal), work(ending.signal)]);
  } catch (error) {
    // Whatever breaks because of an abort, the abort is the reason.
    ending.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', passOn);
  }
}

function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

const noAnswer = (limitMs: number): Error => new Error(`no answer within ${limitMs} ms`);
