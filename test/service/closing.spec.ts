import { setImmediate } from 'node:timers/promises';
import { InMemorySessionService, SessionService } from '../../src/index.js';
import { holding } from '../support/holding.js';
import { storeOfEachKind } from '../support/stores.js';
import { until } from '../support/until.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'one' };

describe.each(storeOfEachKind)('SessionService.close on $name', ({ open }) => {
  it('waits for pending appends and their hooks', async () => {
    const { storage, destroy } = await open({});
    const sessions = new SessionService({ storage });
    const session = await sessions.createSession(KEY);
    const received: number[] = [];
    sessions.hooks.onAfterAppend(({ event }) => void received.push(event.seq));
    const appends = [1, 2, 3].map(() => sessions.appendEvent({ session, event: { author: 'user' } }));
    await sessions.close();
    expect(new Set(received)).toEqual(new Set([1, 2, 3]));
    expect(await Promise.all(appends)).toHaveLength(3);
    await destroy();
  });

  it('ends while others go on calling', async () => {
    const { storage, destroy } = await open({});
    const sessions = new SessionService({ storage, onBackgroundError: () => undefined });
    const keys = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => ({ ...KEY, sessionId: `s-${number}` }));
    const opened = await Promise.all(keys.map((key) => sessions.createSession(key)));
    sessions.hooks.onAfterAppend(async ({ key }) => void (await sessions.getUserState(key)));
    const refused = Promise.allSettled(
      opened.map(async (session) => {
        for (;;) await sessions.appendEvent({ session, event: { author: 'user' } });
      }),
    );
    await setImmediate();
    await sessions.close();
    const closed = { status: 'rejected', reason: { code: 'STORE_UNAVAILABLE' } };
    expect(await refused).toMatchObject(opened.map(() => closed));
    await destroy();
  });

  it('makes all later calls fail, and can be called twice', async () => {
    const { storage, destroy } = await open({});
    const sessions = new SessionService({ storage });
    const session = await sessions.createSession(KEY);
    await sessions.close();
    await sessions.close();
    const refused = { code: 'STORE_UNAVAILABLE', outcomeUnknown: false };
    await expect(sessions.getSession(KEY)).rejects.toMatchObject(refused);
    await expect(sessions.createSession({ ...KEY, sessionId: 'two' })).rejects.toMatchObject(refused);
    await expect(sessions.appendEvent({ session, event: { author: 'user' } })).rejects.toMatchObject(refused);
    await expect(sessions.deleteSession(KEY)).rejects.toMatchObject(refused);
    await expect(sessions.listSessions(KEY)).rejects.toMatchObject(refused);
    await expect(sessions.purgeExpired()).rejects.toMatchObject(refused);
    const lease = { name: 'job', holder: 'one', token: 1, ttlMs: 1_000, expiresAt: Date.now() + 1_000 };
    await expect(storage.leases.acquire(lease)).rejects.toMatchObject(refused);
    await expect(storage.leases.renew(lease, 1_000)).rejects.toMatchObject(refused);
    await expect(storage.leases.release(lease)).rejects.toMatchObject(refused);
    await expect(storage.agenda.put('job', 0)).rejects.toMatchObject(refused);
    await expect(storage.agenda.due(1)).rejects.toMatchObject(refused);
    await expect(storage.agenda.remove({ name: 'job', dueAt: 1 })).rejects.toMatchObject(refused);
    await destroy();
  });
});

describe('a close that waits for what may never end', () => {
  afterEach(() => jest.useRealTimers());

  it('says every few seconds what has not ended', async () => {
    const said: string[] = [];
    const sessions = new InMemorySessionService({ onBackgroundError: (error) => void said.push(String(error)) });
    const session = await sessions.createSession(KEY);
    const { held, release } = holding();
    let handling = 0;
    const handler = (): Promise<void> => {
      handling++;
      return held;
    };
    await sessions.consume({ name: 'mail', pollMs: 10, handler });
    sessions.hooks.onAfterAppend(() => held);
    sessions.hooks.onAfterAppend(() => held);
    await sessions.appendEvent({ session, event: { author: 'user' } });
    await until(() => handling === 1);
    sessions.hooks.onBeforeAppend(() => held);
    const appending = sessions.appendEvent({ session, event: { author: 'user' } });

    jest.useFakeTimers({ doNotFake: [...NOT_INTERVALS] });
    const closing = sessions.close();
    jest.advanceTimersByTime(4_999);
    await setImmediate();
    expect(said).toEqual([]);
    jest.advanceTimersByTime(5_001);
    await setImmediate();
    expect(said).toEqual(
      [5, 10].map((seconds) => {
        const left = '2 × hook of onAfterAppend, 1 × handler of the consumer mail, 1 × hook of onBeforeAppend';
        return `Error: Closing has waited for ${seconds} seconds. This has not ended yet: ${left}.`;
      }),
    );
    release();
    await Promise.all([closing, appending]);
    jest.advanceTimersByTime(60_000);
    await setImmediate();
    expect(said).toHaveLength(2);
  });
});

const NOT_INTERVALS = [
  'Date',
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setTimeout',
  'clearTimeout',
] as const;
