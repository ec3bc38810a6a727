import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type SessionReference, SessionService } from '../../../src/index.js';
import { numberedEvent } from './numbered-event.js';
import { openDescribed, type StoreDescription } from './store-description.js';

/** A client that tries again soon, but does not spend all its time on it. */
const BACK_OFF_MS = 20;

/** Appends one numbered event after the other, each again and again under its id until it is acknowledged. */
export class StubbornWriter {
  acknowledged = 0;
  /** Of these the first attempt had been stored without an answer. */
  duplicates = 0;
  longestCallMs = 0;
  readonly errors: unknown[] = [];
  readonly #news = new EventEmitter();
  #isStopped = false;

  private constructor(
    readonly name: string,
    readonly session: SessionReference,
    private readonly sessions: SessionService,
  ) {}

  static async open(name: string, session: SessionReference, store: StoreDescription): Promise<StubbornWriter> {
    return new StubbornWriter(name, session, new SessionService({ storage: await openDescribed(store) }));
  }

  /** Goes on until it is told to stop; what was begun is finished. */
  async write(onProgress: () => void): Promise<void> {
    this.#isStopped = false;
    let isAcknowledged = true;
    while (!this.#isStopped || !isAcknowledged) {
      isAcknowledged = await this.#tryNext();
      this.#news.emit(isAcknowledged ? 'acknowledged' : 'refused');
      if (isAcknowledged) onProgress();
      else await delay(BACK_OFF_MS);
    }
  }

  /** Waits until that happens once more. */
  async next(news: 'acknowledged' | 'refused'): Promise<void> {
    await once(this.#news, news);
  }

  stop(): void {
    this.#isStopped = true;
  }

  async close(): Promise<void> {
    await this.sessions.close();
  }

  async #tryNext(): Promise<boolean> {
    const event = numberedEvent(this.name, this.acknowledged + 1);
    const start = performance.now();
    try {
      const { duplicate } = await this.sessions.append({ session: this.session, event });
      this.acknowledged += 1;
      if (duplicate) this.duplicates += 1;
      return true;
    } catch (error) {
      this.errors.push(error);
      return false;
    } finally {
      this.longestCallMs = Math.max(this.longestCallMs, performance.now() - start);
    }
  }
}
