import { once } from 'node:events';

/** Waits for the work, or until the signal aborts. */
export async function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const settled = new AbortController();
  try {
    await Promise.race([work, once(signal, 'abort', { signal: settled.signal })]);
  } finally {
    settled.abort();
  }
}
