/** Waits for `work`; rejects with the error of `onTimeout` if it takes too long. */
export function withTimeout<Result>(timeoutMs: number, work: Promise<Result>, onTimeout: () => Error): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(onTimeout()), timeoutMs);
    // One `then` is cheaper than `Promise.race`, and every call of a store waits here.
    work.then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

export interface CallLimits {
  readonly limitMs: number;
  /** Ends the work early, with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Creates the error that is thrown on timeout. */
  readonly timeoutError?: ((limitMs: number) => Error) | undefined;
}

/**
 * Runs `work` until it ends, the time is up or `signal` is aborted, and aborts the signal that `work` gets. The caller
 * gets control back even if `work` ignores that signal. No timer and no listener is left behind.
 */
export async function callWithin<Result>(
  { limitMs, signal, timeoutError = noAnswer }: CallLimits,
  work: (signal: AbortSignal) => Result | Promise<Result>,
): Promise<Result> {
  signal?.throwIfAborted();
  const ending = new AbortController();
  // Not `AbortSignal.any`: a signal that lives as long as the app would keep a reference to every call.
  const forwardAbort = (): void => ending.abort(signal?.reason);
  const abortLate = (): Error => {
    const error = timeoutError(limitMs);
    ending.abort(error);
    return error;
  };
  signal?.addEventListener('abort', forwardAbort, { once: true });
  try {
    const ended = Promise.race([rejectionOn(ending.signal), work(ending.signal)]);
    return await withTimeout(limitMs, ended, abortLate);
  } catch (error) {
    // After an abort, report its reason, not the error that the abort caused.
    ending.signal.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', forwardAbort);
  }
}

function rejectionOn(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

const noAnswer = (limitMs: number): Error => new Error(`no answer within ${limitMs} ms`);
