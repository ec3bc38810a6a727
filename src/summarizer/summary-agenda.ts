import type { Agenda } from '../sessions/storage/agenda.js';
import { Remembered } from './remembered.js';

export interface SummaryAgendaOptions {
  readonly agenda: Agenda;
  readonly onError: (error: unknown) => void;
}

/** How long nobody looks at a session that is on the agenda. */
const LOOK_AFTER_MS = 60_000;
const LONGEST_WAIT_MS = 10 * 60_000;
/** A note is renewed at half of its time, so that it never runs out while a session is in use. */
const RENEW_AFTER_MS = LOOK_AFTER_MS / 2;
const MOST_REMEMBERED = 50_000;

/**
 * Notes which sessions are in use, so that somebody looks at them when this process is gone: one small write for a
 * session in half a minute, which nobody waits for.
 */
export class SummaryAgenda {
  readonly #options: SummaryAgendaOptions;
  readonly #notedAt = new Remembered<number>(MOST_REMEMBERED);
  readonly #writing = new Set<Promise<void>>();

  constructor(options: SummaryAgendaOptions) {
    this.#options = options;
  }

  /** Sees to it that a session is looked at some time after it was last in use, or after `inMs`. */
  note(name: string, inMs?: number): void {
    const now = performance.now();
    const notedAt = this.#notedAt.get(name);
    if (inMs === undefined && notedAt !== undefined && now - notedAt < RENEW_AFTER_MS) return;
    this.#notedAt.set(name, now);
    const writing = this.#put(name, inMs ?? LOOK_AFTER_MS)
      .catch((error: unknown) => {
        this.#notedAt.delete(name);
        this.#options.onError(error);
      })
      .finally(() => this.#writing.delete(writing));
    this.#writing.add(writing);
  }

  /**
   * Somebody sees to it now; if that comes to nothing, others do. The longer nothing changes, the longer that may wait: a
   * call that nobody answers any more may stand in the way of a summary for ever.
   */
  async postpone(name: string, idleMs = 0): Promise<void> {
    await this.#put(name, Math.min(Math.max(LOOK_AFTER_MS, Math.floor(idleMs)), LONGEST_WAIT_MS));
  }

  /** Whatever a store of the app's own makes of it, even at once, fails what is returned and no append. */
  async #put(name: string, inMs: number): Promise<void> {
    await this.#options.agenda.put(name, inMs);
  }

  async whenWritten(): Promise<void> {
    while (this.#writing.size > 0) await Promise.all(this.#writing);
  }
}
