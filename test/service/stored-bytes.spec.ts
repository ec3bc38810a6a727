import {
  type EventInput,
  InMemorySessionStorage,
  QuotaExceededError,
  SessionService,
  type SessionServiceOptions,
} from '../../src/index.js';
import { ManualClock } from '../../src/testing/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { withNotedCalls } from '../support/noted-calls.js';
import { isAccepted, refusalsOf } from '../support/quota-refusals.js';
import { storesAboveThePort } from '../support/stores.js';

const ANN = { appName: 'shop', userId: 'ann' };
const KEY = { ...ANN, sessionId: 's' };
const NOON = Date.UTC(2026, 10, 23, 12);

type Options = Omit<SessionServiceOptions, 'storage' | 'clock' | 'quotas'>;

describe.each(storesAboveThePort)('the quota of stored bytes on $name', ({ open }) => {
  let clock: ManualClock;
  let opened: OpenStorage;
  let calls: string[];
  const services: SessionService[] = [];

  beforeEach(async () => {
    clock = new ManualClock(NOON);
    opened = await open({ clock });
    calls = [];
  });

  afterEach(async () => {
    await Promise.all(services.splice(0).map((service) => service.finish()));
    await opened.destroy();
  });

  /** An instance that shares the store with others. */
  function start(storedBytes: number | undefined, options: Options = {}): SessionService {
    const quotas = storedBytes === undefined ? undefined : { user: { storedBytes } };
    const service = new SessionService({ ...options, storage: withNotedCalls(opened.storage, calls), clock, quotas });
    services.push(service);
    return service;
  }

  /** What the store has, read event by event. */
  async function stored(): Promise<number> {
    const { storage } = opened;
    const { sessions } = await storage.list({ ...ANN, orderBy: 'createTime', order: 'asc', limit: 1_000 });
    let bytes = 0;
    for (const { record } of sessions) {
      const read = await storage.read({ key: record, window: {}, withBase: true });
      const texts = [read?.baseState ?? '', ...(read?.events ?? []).map(({ payload }) => payload ?? '')];
      for (const text of texts) bytes += Buffer.byteLength(text);
    }
    return bytes;
  }

  it('lets no instance store more than is left, and all of it in the end', async () => {
    const limit = 20_000;
    const both = [start(limit), start(limit)];
    const ids = ['a', 'b', 'c'];
    for (const sessionId of ids) await both[0]?.createSession({ ...ANN, sessionId });
    const tries = Array.from({ length: 120 }, async (_, index) =>
      append(both[index % 2], ids[index % 3], 'ä'.repeat(50 + (index % 7) * 40)),
    );
    const refused = refusalsOf(await Promise.allSettled(tries));
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(120);
    expect(await stored()).toBeLessThanOrEqual(limit);
    for (const error of refused) {
      expect(error).toMatchObject({ code: 'QUOTA_EXCEEDED', status: 429, retryAfterMs: undefined });
      expect(error.quota).toMatchObject({ scope: 'user', quota: 'storedBytes', limit });
      expect(error.quota).not.toHaveProperty('resetsAt');
    }
    expect(refused[0]?.message).toContain('Delete sessions or events, or raise the quota.');
    // What an instance set aside and did not use is found by the next count.
    clock.advanceSeconds(10);
    const most = async (): Promise<number> => {
      for (const service of both) while (await isAccepted(append(service, 'a', 'x')));
      return stored();
    };
    await most();
    clock.advanceSeconds(10);
    const full = await most();
    expect(full).toBeLessThanOrEqual(limit);
    expect(full).toBeGreaterThan(limit - 600);
  });

  it('counts batches, initial states and forks', async () => {
    const sessions = start(10_000);
    await expect(sessions.createSession({ ...ANN, state: { note: 'x'.repeat(10_000) } })).rejects.toMatchObject({
      quota: { quota: 'storedBytes', limit: 10_000 },
    });
    await sessions.createSession({ ...KEY, state: { note: 'x'.repeat(1_000) } });
    const events = Array.from({ length: 3 }, () => said('x'.repeat(1_000)));
    await sessions.appendEvents({ session: { ...ANN, id: 's' }, events });
    const once = await stored();
    expect(once).toBeGreaterThan(4_000);
    await sessions.forkSession(KEY);
    await expect(sessions.forkSession(KEY)).rejects.toMatchObject({ quota: { used: await stored(), limit: 10_000 } });
    expect(await stored()).toBeGreaterThan(2 * once - 100);
    await expect(sessions.appendEvents({ session: { ...ANN, id: 's' }, events })).rejects.toBeInstanceOf(
      QuotaExceededError,
    );
  });

  it('counts what was there before, and a rewind too', async () => {
    const before = start(undefined);
    await before.createSession(KEY);
    for (const text of ['a', 'b']) await append(before, 's', text.repeat(2_000));
    const sessions = start((await stored()) + 200);
    await expect(append(sessions, 's', 'x'.repeat(200))).rejects.toBeInstanceOf(QuotaExceededError);
    await sessions.rewindSession({ ...KEY, toSeq: 1 });
    await expect(sessions.rewindSession({ ...KEY, toSeq: 1 })).rejects.toBeInstanceOf(QuotaExceededError);
  });

  it.each([
    ['a deletion', async (sessions: SessionService) => sessions.deleteSession({ ...ANN, sessionId: 'large' })],
    [
      'a redaction',
      async (sessions: SessionService) => {
        for (const seq of [1, 2, 3]) await sessions.redactEvent({ ...ANN, sessionId: 'large', seq, reason: 'test' });
      },
    ],
    ['an expiry', async () => clock.advanceSeconds(86)],
  ])('finds the room of %s after ten seconds', async (_name, free) => {
    const sessions = start(10_000, { ttl: { enabled: true, sessionSeconds: 100 } });
    await sessions.createSession({ ...ANN, sessionId: 'large' });
    for (let count = 0; count < 3; count++) await append(sessions, 'large', 'x'.repeat(2_500));
    clock.advanceSeconds(15);
    await sessions.createSession(KEY);
    await expect(append(sessions, 's', 'x'.repeat(2_500))).rejects.toBeInstanceOf(QuotaExceededError);
    await free(sessions);
    clock.advanceSeconds(10);
    await append(sessions, 's', 'x'.repeat(2_500));
  });

  it('finds the room of trimmed events, and refuses nobody who stays below the limit', async () => {
    const sessions = start(250_000, { history: { keepHistory: false, maxEvents: 5 } });
    await sessions.createSession(KEY);
    // Events are trimmed 64 at a time. All of them are five times as much as may be stored.
    for (let second = 0; second < 500; second++) {
      await append(sessions, 's', 'x'.repeat(2_300));
      await sessions.whenIdle();
      clock.advanceSeconds(1);
    }
    expect(await stored()).toBeLessThan(250_000);
  });

  it('is seen in the usage, also after a deletion', async () => {
    const sessions = start(9_000);
    for (const sessionId of ['s', 't']) await sessions.createSession({ ...ANN, sessionId });
    await append(sessions, 's', 'x'.repeat(3_000));
    const use = async () => (await sessions.getUsage(ANN)).quotas;
    clock.advanceSeconds(10);
    expect(await use()).toEqual([{ scope: 'user', quota: 'storedBytes', used: await stored(), limit: 9_000 }]);
    await sessions.deleteSession(KEY);
    calls.length = 0;
    expect((await use())?.[0]?.used).toBeGreaterThan(3_000);
    // Asking again and again counts once in ten seconds.
    expect(calls).toEqual(['readUsage', 'entries.find']);
    clock.advanceSeconds(10);
    expect(await use()).toEqual([{ scope: 'user', quota: 'storedBytes', used: 2, limit: 9_000 }]);
    expect((await sessions.getUsage({ appName: 'shop' })).quotas).toBeUndefined();
  });

  it('asks the store less and less often, and nobody for ten seconds once it is used up', async () => {
    const sessions = start(1_600_000);
    await sessions.createSession(KEY);
    calls.length = 0;
    for (let count = 0; count < 200; count++) await append(sessions, 's', 'x');
    const asked = calls.filter((name) => name.startsWith('entries.'));
    // Shares for 1, 1, 2, 4 … 128 events, each a read and a write.
    expect(asked).toHaveLength(2 * 9);
    expect(calls.filter((name) => name !== 'append')).toEqual(asked);
    // As much as in the last five seconds at once.
    clock.advanceSeconds(5);
    calls.length = 0;
    for (let count = 0; count < 100; count++) await append(sessions, 's', 'x');
    expect(calls.filter((name) => name.startsWith('entries.'))).toHaveLength(2);

    const full = start(10);
    await expect(append(full, 's', 'x')).rejects.toBeInstanceOf(QuotaExceededError);
    calls.length = 0;
    for (let count = 0; count < 100; count++) await expect(append(full, 's', 'x')).rejects.toThrow('stored bytes');
    expect(calls).toEqual([]);
  });

  it('counts with a request for each 100 sessions, and each 2,000 events', async () => {
    const before = start(undefined);
    await Promise.all(
      Array.from({ length: 101 }, async (_, index) => before.createSession({ ...ANN, sessionId: `s-${index}` })),
    );
    await append(before, 's-1', 'x');
    const sessions = start(1_000_000);
    calls.length = 0;
    await append(sessions, 's-1', 'x');
    const counting = ['entries.find', 'list', 'tails', 'tails', 'entries.find', 'entries.write'];
    expect(calls).toEqual([...counting, 'append']);
  });
});

describe('the quota of stored bytes', () => {
  it('is refused by a store that does not add up bytes', async () => {
    const storage = new InMemorySessionStorage();
    const before = new SessionService({ storage });
    await before.createSession(KEY);
    const tails = storage.tails.bind(storage);
    storage.tails = (logs) => tails(logs.map((log) => ({ ...log, bytesTo: undefined })));
    const sessions = new SessionService({ storage, quotas: { user: { storedBytes: 1_000 } } });
    await expect(append(sessions, 's', 'x')).rejects.toMatchObject({ code: 'UNSUPPORTED_BY_STORE' });
    await Promise.all([before, sessions].map((each) => each.finish()));
  });
});

function said(text: string): EventInput {
  return { author: 'user', content: { parts: [{ text }] } };
}

async function append(sessions: SessionService | undefined, id = 's', text: string): Promise<unknown> {
  return sessions?.appendEvent({ session: { ...ANN, id }, event: said(text) });
}
