import { SummaryModelError } from '../summary-model-error.js';
import { withinTime } from './within-time.js';

/** How long and how often a model is asked. */
export interface PatienceOptions {
  /** For one try; 30,000 ms unless given. */
  readonly timeoutMs?: number | undefined;
  /** For all tries and the pauses between them; 120,000 ms unless given. */
  readonly totalTimeoutMs?: number | undefined;
  /** How often to ask again after a failure that may pass; 2 unless given. */
  readonly maxRetries?: number | undefined;
  /** Pauses between tries; for tests. It need not care about `signal`. */
  readonly wait?: ((ms: number, signal: AbortSignal) => Promise<unknown>) | undefined;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;
/** Who asks for more than this is not waited for: the error says when to come back. */
const LONGEST_ASKED_PAUSE_MS = 60_000;

/** Calls `attempt` until it succeeds, fails for good, or patience ends. */
export async function patientCall<T>(
  options: PatienceOptions,
  signal: AbortSignal,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { timeoutMs = 30_000, totalTimeoutMs = 120_000, maxRetries = 2, wait = pauseFor } = options;
  return withinTime({ limitMs: totalTimeoutMs, signal, lateError: timedOut }, async (inTime) => {
    for (let tries = 1; ; tries++) {
      try {
        return await withinTime({ limitMs: timeoutMs, signal: inTime, lateError: timedOut }, attempt);
      } catch (error) {
        inTime.throwIfAborted();
        if (tries > maxRetries || !mayPass(error)) throw error;
        await wait(Math.max(backoffMs(tries), error.retryAfterMs ?? 0), inTime);
        inTime.throwIfAborted();
      }
    }
  });
}

function timedOut(limitMs: number): SummaryModelError {
  return new SummaryModelError('TIMED_OUT', `The model did not answer within ${limitMs} ms.`, { retryable: true });
}

function mayPass(error: unknown): error is SummaryModelError {
  return error instanceof SummaryModelError && error.retryable && (error.retryAfterMs ?? 0) <= LONGEST_ASKED_PAUSE_MS;
}

/** Longer from try to try, and not the same for all who wait. */
function backoffMs(tries: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);
}

/** Ends early when it is aborted, and takes its timer along. */
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
