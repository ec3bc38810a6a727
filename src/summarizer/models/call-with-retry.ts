import { SummaryModelError } from './summary-model.js';
import { backoffMs, callWithin } from '../../sessions/domain/timeouts.js';

/** Timeouts and retries of a call to a model. */
export interface ModelCallOptions {
  /** Timeout of one attempt. Default: 30,000 ms. */
  readonly timeoutMs?: number | undefined;
  /** Timeout of all attempts and the pauses between them. Default: 120,000 ms. */
  readonly totalTimeoutMs?: number | undefined;
  /** How often to retry after a temporary failure. Default: 2. */
  readonly maxRetries?: number | undefined;
  /** Pauses between attempts, for tests. It may ignore `signal`. */
  readonly wait?: ((ms: number, signal: AbortSignal) => Promise<unknown>) | undefined;
}

const PAUSES = { firstMs: 500, maxMs: 8_000 };
/** If the provider requests a longer pause, the call fails and the error contains the pause. */
const MAX_RETRY_AFTER_MS = 60_000;

/** Calls `attempt` until it succeeds, fails permanently, or the retries or the time are used up. */
export async function callWithRetry<T>(
  options: ModelCallOptions,
  signal: AbortSignal,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { timeoutMs = 30_000, totalTimeoutMs = 120_000, maxRetries = 2, wait = pauseFor } = options;
  return callWithin({ limitMs: totalTimeoutMs, signal, timeoutError: timedOut }, async (total) => {
    for (let attempts = 1; ; attempts++) {
      try {
        return await callWithin({ limitMs: timeoutMs, signal: total, timeoutError: timedOut }, attempt);
      } catch (error) {
        total.throwIfAborted();
        if (attempts > maxRetries || !isTemporary(error)) throw error;
        await wait(Math.max(backoffMs(attempts, PAUSES, Math.random()), error.retryAfterMs ?? 0), total);
        total.throwIfAborted();
      }
    }
  });
}

function timedOut(limitMs: number): SummaryModelError {
  return new SummaryModelError('TIMED_OUT', `The model did not answer within ${limitMs} ms.`, { retryable: true });
}

function isTemporary(error: unknown): error is SummaryModelError {
  return error instanceof SummaryModelError && error.retryable && (error.retryAfterMs ?? 0) <= MAX_RETRY_AFTER_MS;
}

/** Ends early on an abort, and removes its timer then. */
function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}
