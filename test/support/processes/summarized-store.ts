import type { EventInput } from '../../../src/sessions/domain/event/event.js';
import type { SessionReference } from '../../../src/sessions/domain/session/session.js';
import { SessionService } from '../../../src/sessions/session.service.js';
import type { SessionStorage } from '../../../src/sessions/storage/session-storage.js';
import { SummarizerSessionManager } from '../../../src/summarizer/summarizer-session.manager.js';
import type { SummarizerOptions } from '../../../src/summarizer/summarizer-options.js';
import { type StoreDescription, openDescribed } from './store-description.js';
import { type Step, killAt } from './kill-points.js';

export interface SummarizedOpening {
  readonly store: StoreDescription;
  readonly modelUrl: string;
  readonly options: Omit<SummarizerOptions, 'model' | 'modelAt' | 'clock' | 'when' | 'checkers'>;
  /** How far the clock of this process is ahead. */
  readonly aheadMs?: number;
  /** The step at which this process is killed. */
  readonly stopAt?: Step | undefined;
}

export interface Turns {
  readonly sessions: readonly SessionReference[];
  readonly writer: string;
  readonly turns: number;
}

/** A store with summaries, in its own process. */
export class SummarizedStore {
  private constructor(
    private readonly sessions: SessionService,
    private readonly summaries: SummarizerSessionManager,
  ) {}

  static async open({ store, modelUrl, options, aheadMs = 0, stopAt }: SummarizedOpening): Promise<SummarizedStore> {
    const clock = aheadMs === 0 ? undefined : { now: () => Date.now() + aheadMs };
    const storage: SessionStorage = await openDescribed(store, { clock });
    const sessions = new SessionService({ storage, clock });
    const modelAt = { baseUrl: modelUrl, model: 'of-the-test' };
    const summaries = new SummarizerSessionManager({ sessions }, { ...options, modelAt, clock });
    if (stopAt) killAt(stopAt, { storage, summaries });
    return new SummarizedStore(sessions, summaries);
  }

  /** Appends to all sessions concurrently, in each of them one event after the other. */
  async appendTurns({ sessions, writer, turns }: Turns): Promise<void> {
    await Promise.all(sessions.map((session) => this.#appendTurns(session, writer, turns)));
  }

  async settle(): Promise<{ stored: number; failed: number }> {
    await this.sessions.whenIdle();
    await this.summaries.whenIdle();
    const { stored, failed } = this.summaries.counts;
    return { stored, failed };
  }

  async sweep(): Promise<number> {
    const seen = await this.summaries.sweep();
    await this.settle();
    return seen;
  }

  async close(): Promise<void> {
    await this.summaries.close();
    await this.sessions.close();
  }

  async #appendTurns(session: SessionReference, writer: string, turns: number): Promise<void> {
    for (let number = 1; number <= turns; number++) {
      await this.sessions.appendEvent({ session, event: said('user', `${writer}-q${number}`) });
      await this.sessions.appendEvent({ session, event: said('agent', `${writer}-a${number}`) });
    }
  }
}

function said(author: 'user' | 'agent', id: string): EventInput {
  return { id, author, content: { role: author === 'user' ? 'user' : 'model', parts: [{ text: id }] } };
}
