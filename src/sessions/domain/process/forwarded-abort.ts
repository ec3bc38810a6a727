import { setMaxListeners } from 'node:events';

/** A signal that aborts with others, until it is released. */
export interface ForwardedAbort {
  readonly signal: AbortSignal;
  /** Call it when the work is over: then the others keep nothing of it. */
  readonly release: () => void;
}

/**
 * Like `AbortSignal.any`, for signals that live as long as the app: there, each `any` leaves a reference behind.
 *
 * @example
 * const { signal, release } = forwardedAbort([closing, request.signal]);
 * await work(signal).finally(release);
 */
export function forwardedAbort(signals: readonly AbortSignal[]): ForwardedAbort {
  const forwarded = new AbortController();
  // Thousands may wait for the end of the app. Node would warn of the eleventh.
  setMaxListeners(Infinity, ...signals);
  const release = (): void => {
    for (const stop of stops) stop();
  };
  const stops = signals.map((signal) => {
    const forward = (): void => {
      forwarded.abort(signal.reason);
      release();
    };
    if (signal.aborted) forwarded.abort(signal.reason);
    else signal.addEventListener('abort', forward);
    return () => signal.removeEventListener('abort', forward);
  });
  return { signal: forwarded.signal, release };
}
