import type { EventInput } from '../../sessions/domain/event/event.js';
import { signalsOf } from '../../sessions/session-signals.js';
import type { PartialOutcome, PartialWrite } from '../../sessions/domain/stored/partial-event.js';
import type { SessionStorage } from '../../sessions/storage/session-storage.js';
import { type PartialSettings, type PartialTarget, PartialLog } from './partial-log.js';

const LONGEST_PAUSE_MS = 1_000;
/** A piece that comes alone waits so long for others. */
const SHORTEST_PAUSE_MS = 15;
/** The pause is so many times what the last write took, so that saving keeps a connection busy for a quarter of the time at most. */
const PAUSE_PER_WRITE = 3;

/** The parts of the environment of agents that are needed here. */
interface FlusherEnvironment {
  readonly storage: SessionStorage;
  readonly newId: () => string;
  readonly onError: (error: unknown) => void;
}

/**
 * Saves what all turns of the process say. Those that are due at the same time are saved together. Of each turn, one write is on its way at a time:
 * the pause, and the time that a write takes, decide how much a piece holds.
 */
export class PartialFlusher {
  readonly #waiting = new Set<PartialLog>();
  #timer: NodeJS.Timeout | undefined;
  readonly #onWay = new Map<PartialLog, Promise<void>>();
  /** Since the last success. */
  #failures = 0;
  /** How long the last write took. */
  #lastWriteMs = 0;

  constructor(
    private readonly env: FlusherEnvironment,
    private readonly settings: PartialSettings,
  ) {}

  /** The partial events of a turn. Close them with {@link forget}. */
  logOf(target: PartialTarget): PartialLog {
    return new PartialLog(target, this.settings, this.env.newId);
  }

  /** Collects a partial event of the turn, and saves it soon. Returns its place: see {@link PartialLog.add}. */
  say(log: PartialLog, event: EventInput): ReturnType<PartialLog['add']> {
    const place = log.add(event);
    this.#wait(log);
    return place;
  }

  /** Saves again, after a commit of the turn. */
  resume(log: PartialLog): void {
    log.resume();
    this.#wait(log);
  }

  /** Waits until a write of the turn that is on its way has arrived, so that a commit can remove what it saved. */
  async settle(log: PartialLog): Promise<void> {
    await this.#onWay.get(log);
  }

  forget(log: PartialLog): void {
    log.close();
    this.#waiting.delete(log);
    if (this.#waiting.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #wait(log: PartialLog): void {
    // It waits again once its write has arrived.
    if (!log.isPending || this.#onWay.has(log)) return;
    this.#waiting.add(log);
    if (this.#timer) return;
    this.#timer = setTimeout(() => this.#flush(), this.#pause());
  }

  #pause(): number {
    const { flushMs } = this.settings;
    if (this.#failures > 0) return Math.max(flushMs, Math.min(flushMs * 2 ** this.#failures, LONGEST_PAUSE_MS));
    return Math.min(flushMs, Math.max(SHORTEST_PAUSE_MS, PAUSE_PER_WRITE * this.#lastWriteMs));
  }

  #flush(): void {
    this.#timer = undefined;
    const due = [...this.#waiting];
    this.#waiting.clear();
    for (const log of due) {
      const write = log.take();
      if (!write) continue;
      const saving = this.#save(log, write).then((outcome) => {
        this.#onWay.delete(log);
        log.settle(outcome);
        this.#wait(log);
      });
      this.#onWay.set(log, saving);
    }
  }

  /** Returns nothing if it is not known what became of it. */
  async #save(log: PartialLog, write: PartialWrite): Promise<PartialOutcome | undefined> {
    const { storage } = this.env;
    const startedAt = performance.now();
    try {
      const outcome = await storage.savePartial(write);
      this.#failures = 0;
      this.#lastWriteMs = performance.now() - startedAt;
      if (outcome.kind === 'saved') signalsOf(storage).announce(log.key, 'partials');
      return outcome;
    } catch (error) {
      this.#failures += 1;
      // Every further try fails with the same error.
      if (this.#failures === 1) this.env.onError(error);
      return undefined;
    }
  }
}
