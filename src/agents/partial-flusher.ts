import { signalsOf } from '../sessions/session-signals.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { type PartialSettings, type PartialTarget, PartialLog } from './partial-log.js';

const LONGEST_PAUSE_MS = 1_000;

/** The parts of the environment of agents that are needed here. */
interface FlusherEnvironment {
  readonly storage: SessionStorage;
  readonly newId: () => string;
  readonly onError: (error: unknown) => void;
}

/**
 * Saves what all turns of the process say. One call of the store at a time, for all of them: the pause between calls, and the time
 * that they take, decide how much a piece holds.
 */
export class PartialFlusher {
  readonly #waiting = new Set<PartialLog>();
  #timer: NodeJS.Timeout | undefined;
  #flushing: { readonly logs: ReadonlySet<PartialLog>; readonly done: Promise<void> } | undefined;
  #failures = 0;

  constructor(
    private readonly env: FlusherEnvironment,
    private readonly settings: PartialSettings,
  ) {}

  /** The partial events of a turn. Close them with {@link forget}. */
  logOf(target: PartialTarget): PartialLog {
    return new PartialLog(target, this.settings, this.env.newId, (log) => this.#wait(log));
  }

  /** Waits until a write of the turn that is on its way has arrived, so that a commit can remove what it saved. */
  async settle(log: PartialLog): Promise<void> {
    if (this.#flushing?.logs.has(log)) await this.#flushing.done;
  }

  forget(log: PartialLog): void {
    log.close();
    this.#waiting.delete(log);
    if (this.#waiting.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #wait(log: PartialLog): void {
    this.#waiting.add(log);
    if (this.#timer || this.#flushing) return;
    const pause = Math.min(this.settings.flushMs * 2 ** this.#failures, LONGEST_PAUSE_MS);
    this.#timer = setTimeout(() => this.#flush(), Math.max(pause, this.settings.flushMs));
  }

  #flush(): void {
    this.#timer = undefined;
    const taken = [...this.#waiting].flatMap((log) => {
      const write = log.take();
      return write ? [{ log, write }] : [];
    });
    this.#waiting.clear();
    if (taken.length === 0) return;
    const done = this.#save(taken).finally(() => {
      this.#flushing = undefined;
      // Those that were added during the flush, or are to be repeated.
      const [next] = this.#waiting;
      if (next) this.#wait(next);
    });
    this.#flushing = { logs: new Set(taken.map(({ log }) => log)), done };
  }

  async #save(
    taken: readonly { log: PartialLog; write: NonNullable<ReturnType<PartialLog['take']>> }[],
  ): Promise<void> {
    try {
      const { storage } = this.env;
      const outcomes = await storage.partials.save(taken.map(({ write }) => write));
      this.#failures = 0;
      for (const [index, { log }] of taken.entries()) {
        const outcome = outcomes[index];
        log.settle(outcome);
        if (outcome?.kind === 'saved') signalsOf(storage).announce(log.key, 'partials');
      }
    } catch (error) {
      this.#failures += 1;
      // Every further try fails with the same error.
      if (this.#failures === 1) this.env.onError(error);
      for (const { log } of taken) log.settle(undefined);
    }
  }
}
