import { EventEmitter, once } from 'node:events';
import type { SessionReference, SessionService } from '../../../src/index.js';
import { expectToAgree, wholeLog } from './session-story.js';
import type { StoreDescription } from './store-description.js';
import { StubbornWriter } from './stubborn-writer.js';

/** Several writers, two to a session; each session is of another user, so that what they share has one order. */
export class StubbornWriters {
  private constructor(readonly all: readonly StubbornWriter[]) {}

  /** The sessions have to be there. */
  static async open(store: StoreDescription, sessions: readonly SessionReference[]): Promise<StubbornWriters> {
    const writers = sessions.flatMap((session, index) =>
      ['a', 'b'].map((half) => StubbornWriter.open(`w${index}${half}`, session, store)),
    );
    return new StubbornWriters(await Promise.all(writers));
  }

  /** All write until so many more events were acknowledged, and `then` was done after that; the rest goes on meanwhile. */
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

/** Every event that was acknowledged is in its log, in order and once, and nothing else is there. */
export async function expectNothingLost(sessions: SessionService, { all }: StubbornWriters): Promise<void> {
  const app = new Map<string, unknown>();
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
    await expectToAgree(sessions, session, ofApp, await wholeLog(sessions, session));
  }
}
