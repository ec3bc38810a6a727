import { ManualClock } from '../../src/testing/index.js';
import { SessionService, type EventInput, type LoggedEvent } from '../../src/index.js';
import type { SessionStorage } from '../../src/sessions/storage/session-storage.js';
import type { SummaryAnswer, SummaryModel, SummaryRequest } from '../../src/summarizer/models/summary-model.js';
import { SummarizerSessionManager } from '../../src/summarizer/summarizer-session.manager.js';
import type { SummarizerOptions } from '../../src/summarizer/summarizer-options.js';
import { type TestStore } from '../support/stores.js';

export const KEY = { appName: 'shop', userId: 'ann', sessionId: 'one' };
export const SESSION = { appName: 'shop', userId: 'ann', id: 'one' };

/** A model that answers with `reply` and records its requests. */
export class ScriptedModel implements SummaryModel {
  readonly name = 'scripted';
  readonly requests: SummaryRequest[] = [];

  constructor(
    public reply: (request: SummaryRequest, signal: AbortSignal) => Promise<SummaryAnswer> = numberedReplies(),
  ) {}

  async summarize(request: SummaryRequest, { signal }: { signal: AbortSignal }): Promise<SummaryAnswer> {
    this.requests.push(request);
    return this.reply(request, signal);
  }
}

function numberedReplies(): () => Promise<SummaryAnswer> {
  let count = 0;
  return async () => ({ text: `summary ${++count}`, inputTokens: 100, outputTokens: 10 });
}

/** A session service with summaries on a store, and one session. */
export class SummarizedSessions {
  private constructor(
    readonly storage: SessionStorage,
    readonly clock: ManualClock,
    readonly sessions: SessionService,
    readonly model: ScriptedModel,
    readonly summaries: SummarizerSessionManager,
    readonly destroy: () => Promise<void>,
  ) {}

  static async open(store: TestStore, options: SummarizerOptions = {}, model = new ScriptedModel()) {
    const clock = new ManualClock();
    const { storage, destroy } = await store.open({ clock });
    const sessions = new SessionService({ storage, clock });
    const summaries = new SummarizerSessionManager(
      { sessions },
      { turns: 0, contentLength: 0, model, clock, ...options },
    );
    await sessions.createSession(KEY);
    return new SummarizedSessions(storage, clock, sessions, model, summaries, async () => {
      await summaries.close();
      await sessions.whenIdle();
      await destroy();
    });
  }

  /** The same for another process with the same store. */
  restarted(options: SummarizerOptions = {}): SummarizedSessions {
    const { storage, clock, model } = this;
    const sessions = new SessionService({ storage, clock });
    const summaries = new SummarizerSessionManager(
      { sessions },
      { turns: 0, contentLength: 0, model, clock, ...options },
    );
    return new SummarizedSessions(storage, clock, sessions, model, summaries, async () => summaries.close());
  }

  /** All at once: no summary begins between them. What is due is on the agenda afterwards. */
  async append(...events: EventInput[]): Promise<void> {
    await this.sessions.appendEvents({ session: SESSION, events });
    await this.sessions.whenIdle();
  }

  /** One after the other. Summaries may begin between them. */
  async appendEach(...events: EventInput[]): Promise<void> {
    for (const event of events) await this.append(event);
  }

  async settle(): Promise<void> {
    await this.sessions.whenIdle();
    await this.summaries.whenIdle();
  }

  /** The view of a reader: the text of each event, or its number if it has no text. */
  async view(): Promise<string[]> {
    const session = await this.sessions.getSession(KEY);
    return (session?.events ?? []).map(shown);
  }

  async log(): Promise<LoggedEvent[]> {
    return (await this.sessions.listEvents({ ...KEY, limit: 1_000 })).events;
  }
}

function shown(event: LoggedEvent): string {
  const text = event.content?.parts?.[0]?.text;
  return text?.replace(/^Summary of the conversation so far:\n/, '= ') ?? String(event.seq);
}

export function user(text: string): EventInput {
  return { author: 'user', content: { role: 'user', parts: [{ text }] } };
}

export function agent(text: string): EventInput {
  return { author: 'agent', content: { role: 'model', parts: [{ text }] } };
}

export function call(id: string, name = 'look'): EventInput {
  return { author: 'agent', content: { role: 'model', parts: [{ functionCall: { id, name, args: { of: id } } }] } };
}

export function answer(id: string, name = 'look'): EventInput {
  return {
    author: 'agent',
    content: { role: 'user', parts: [{ functionResponse: { id, name, response: { found: id } } }] },
  };
}

/** Turns `from` to `to`: `q1`, `a1`, `q2`, `a2` … */
export function turns(from: number, to: number): EventInput[] {
  return Array.from({ length: to - from + 1 }, (_, index) => [
    user(`q${from + index}`),
    agent(`a${from + index}`),
  ]).flat();
}
