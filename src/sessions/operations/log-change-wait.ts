import type { LogWaiter, LogWatcher } from '../log-watcher.js';
import type { SessionEnvironment } from '../session-environment.js';
import type { LogReference } from '../storage/session-changes.js';

/** Waits until a log changes, the caller aborts or the service shuts down. Call `stop` to remove its listeners. */
export class LogChangeWait {
  readonly #logWatcher: LogWatcher;
  readonly #stops: (() => void)[];
  readonly #ended = new AbortController();
  #isWoken = false;
  #resolve: (() => void) | undefined;

  /** @param known the last known event, and partial event */
  constructor(
    { signals, logWatcher, shutdown }: SessionEnvironment,
    log: LogReference,
    known: Omit<LogWaiter, 'wake'>,
    signal: AbortSignal | undefined,
  ) {
    const wake = (): void => this.wake();
    const end = (): void => this.end();
    signal?.addEventListener('abort', end);
    this.#logWatcher = logWatcher;
    this.#stops = [
      signals.subscribe(log.key, (news) => {
        if (news !== 'partials' || known.partial !== undefined) wake();
      }),
      logWatcher.add(log, { ...known, wake }),
      shutdown.onRequest(end),
      () => signal?.removeEventListener('abort', end),
    ];
  }

  /** Aborted when the watch ends. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Ignores signals that arrived before this call. */
  reset(): void {
    this.#isWoken = false;
  }

  /** Waits for a signal; one that arrived since {@link reset} counts. The process lives meanwhile. */
  async wait(): Promise<void> {
    if (this.#isWoken) return;
    const letGo = this.#logWatcher.hold();
    await new Promise<void>((resolve) => (this.#resolve = resolve));
    letGo();
    this.#resolve = undefined;
  }

  /** Ends the current wait. */
  wake(): void {
    this.#isWoken = true;
    this.#resolve?.();
  }

  /** Ends the current wait and the watch. */
  end(): void {
    this.#ended.abort();
    this.wake();
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }
}
