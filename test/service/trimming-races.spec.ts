import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import type { TrimRequest } from '../../src/sessions/storage/session-storage.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'one' };

/** Runs `beforeTrim` right before each trim is written. */
class InterruptedStorage extends InMemorySessionStorage {
  beforeTrim: () => Promise<unknown> = async () => undefined;

  override async trim(request: TrimRequest): Promise<void> {
    await this.beforeTrim();
    await super.trim(request);
  }
}

describe('trimming after a batch', () => {
  it.each([30, 64, 100])('removes what left the view, with %i events in each append', async (count) => {
    const sessions = new SessionService({
      storage: new InMemorySessionStorage(),
      history: { maxEvents: 10, keepHistory: false },
    });
    const session = await sessions.createSession(KEY);
    for (let appended = 0; appended < 1_000; appended += count) {
      const events = Array.from({ length: count }, () => ({ author: 'user' }));
      await sessions.appendEvents({ session, events });
      await sessions.whenIdle();
    }
    const { firstSeq, lastSeq } = await sessions.listEvents(KEY);
    expect(lastSeq - firstSeq).toBeLessThan(10 + 64 + count);
  });
});

describe('trimming during a rewind', () => {
  it('keeps events that become visible again', async () => {
    const storage = new InterruptedStorage();
    const sessions = new SessionService({ storage, history: { maxEvents: 10, keepHistory: false } });
    const session = await sessions.createSession(KEY);
    storage.beforeTrim = () => sessions.rewindSession({ ...KEY, toSeq: 20 });
    for (let count = 0; count < 64; count++) await sessions.appendEvent({ session, event: { author: 'user' } });
    await sessions.whenIdle();
    const seqs = (await sessions.getSession(KEY))?.events.map(({ seq }) => seq);
    expect(seqs).toEqual([11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
    expect((await sessions.listEvents(KEY)).firstSeq).toBe(1);
  });
});
