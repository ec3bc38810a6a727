import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type SessionReference, SessionService } from '../../../src/index.js';
import { numberedEvent } from './numbered-event.js';
import { expectConsistent, wholeLog } from './session-checks.js';
import { openDescribed, type StoreDescription } from './store-description.js';

/** A short pause before a retry. */
const BACK_OFF_MS = 20;

/** Appends numbered events, and retries each one with the same id until it is acknowledged. */
class RetryingWriter {
  acknowledged = 0;
  /** Acknowledged events whose first attempt was stored without a response. */
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

  static async open(name: string, session: SessionReference, store: StoreDescription): Promise<RetryingWriter> {
    return new RetryingWriter(name, session, new SessionService({ storage: await openDescribed(store) }));
  }

  /** Writes until it is stopped, and completes the last event. */
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

  /** Waits for the next acknowledgement or error. */
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

/** Several writers, two per session. Each session has its own user. */
export class RetryingWriters {
  private constructor(readonly all: readonly RetryingWriter[]) {}

  /** The sessions must exist. */
  static async open(store: StoreDescription, sessions: readonly SessionReference[]): Promise<RetryingWriters> {
    const writers = sessions.flatMap((session, index) =>
      ['a', 'b'].map((half) => RetryingWriter.open(`w${index}${half}`, session, store)),
    );
    return new RetryingWriters(await Promise.all(writers));
  }

  /** All write until `count` more events are acknowledged, then runs `then` while they continue to write. */
  async writeAround(count: number, then: () => Promise<void>): Promise<void> {
    const goal = this.acknowledged + count;
    const progress = new EventEmitter();
    const isReached = once(progress, 'goal');
    const onProgress = (): void => {
      if (this.acknowledged >= goal) progress.emit('goal');
    };
    const writing = this.all.map((writer) => writer.write(onProgress));
    try {
      await isReached;
      await then();
    } finally {
      for (const writer of this.all) writer.stop();
    }
    await Promise.all(writing);
  }

  get acknowledged(): number {
    return this.all.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
  }

  get duplicates(): number {
    return this.all.reduce((sum, { duplicates }) => sum + duplicates, 0);
  }

  get errors(): readonly unknown[] {
    return this.all.flatMap(({ errors }) => errors);
  }

  get longestCallMs(): number {
    return Math.max(...this.all.map(({ longestCallMs }) => longestCallMs));
  }

  /** Waits until each was refused at least once more. */
  async allRefused(): Promise<void> {
    await Promise.all(this.all.map((writer) => writer.next('refused')));
  }

  /** Waits until each was acknowledged at least once more. */
  async allAcknowledged(): Promise<void> {
    await Promise.all(this.all.map((writer) => writer.next('acknowledged')));
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((writer) => writer.close()));
  }
}

/** Expects each log to have exactly the acknowledged events, in order and once. */
export async function expectNothingLost(sessions: SessionService, { all }: RetryingWriters): Promise<void> {
  const app = new Map<string, unknown>();
  let allTokens = 0;
  for (const { name, session, acknowledged } of all) {
    const log = await wholeLog(sessions, session);
    const numbers = Array.from({ length: acknowledged }, (_, index) => index + 1);
    const own = log.filter(({ id }) => id.startsWith(`${name}-`));
    expect(own.map(({ id }) => id)).toEqual(numbers.map((number) => `${name}-${number}`));
    expect(all.filter((other) => other.session === session).reduce((sum, other) => sum + other.acknowledged, 0)).toBe(
      log.length,
    );
    for (const number of numbers) app.set(`${name}-${number}`, number);
    app.set(`last-${name}`, acknowledged);
  }
  const ofApp = Object.fromEntries([...app].map(([name, value]) => [`app:${name}`, value]));
  for (const session of new Set(all.map((writer) => writer.session))) {
    const { tokens } = await expectConsistent(sessions, session, ofApp, await wholeLog(sessions, session));
    const { appName, userId } = session;
    const ofUser = await sessions.getUsage({ appName, userId });
    expect(ofUser.total.totalTokens).toBe(tokens);
    allTokens += tokens;
  }
  const { appName = '' } = all[0]?.session ?? {};
  expect((await sessions.getUsage({ appName })).total.totalTokens).toBe(allTokens);
}
