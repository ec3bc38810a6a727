import {
  type EventInput,
  QuotaExceededError,
  type Quotas,
  SessionService,
  type SessionServiceOptions,
} from '../../src/index.js';
import { createUnlessThere } from '../../src/adapter.js';
import type { SessionStorage } from '../../src/storage.js';
import { ManualClock } from '../../src/testing/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { withNotedCalls } from '../support/noted-calls.js';
import { isAccepted, refusalsOf } from '../support/quota-refusals.js';
import { storesAboveThePort } from '../support/stores.js';

const ANN = { appName: 'shop', userId: 'ann' };
const BOB = { appName: 'shop', userId: 'bob' };
const EVENT: EventInput = { author: 'user', content: { parts: [{ text: 'Hello' }] } };
const NOON = Date.UTC(2026, 10, 23, 12);
const MINUTE = NOON + 60_000;

type Options = Omit<SessionServiceOptions, 'storage' | 'clock'>;

describe.each(storesAboveThePort)('quotas on $name', ({ open }) => {
  let clock: ManualClock;
  let opened: OpenStorage;
  let calls: string[];
  const services: SessionService[] = [];

  beforeEach(async () => {
    clock = new ManualClock(NOON + 1_000);
    opened = await open({ clock });
    calls = [];
  });

  afterEach(async () => {
    await Promise.all(services.splice(0).map((service) => service.finish()));
    await opened.destroy();
  });

  /** An instance that shares the store with others. */
  function start(quotas: Options['quotas'], options: Options = {}): SessionService {
    const service = new SessionService({ ...options, storage: withNotedCalls(opened.storage, calls), clock, quotas });
    services.push(service);
    return service;
  }

  it('do not keep summaries and redactions away from a session that is full', async () => {
    const service = start({ user: { appendsPerMinute: 2 } });
    const session = await service.createSession({ ...ANN, sessionId: 's' });
    for (const text of ['a', 'b']) {
      const actions = { stateDelta: { name: 'Ann' } };
      await service.appendEvent({ session, event: { ...EVENT, content: { parts: [{ text }] }, actions } });
    }
    expect(await isAccepted(say(service, 's'))).toBe(false);
    const compaction = { fromSeq: 1, toSeq: 1 };
    const summary = { author: 'system', content: { parts: [{ text: 'a' }] }, actions: { compaction } };
    await service.appendEvent({ session, event: summary });
    await service.redactEvent({ ...ANN, sessionId: 's', seq: 2, reason: 'a name', state: true });
    const { events } = await service.listEvents({ ...ANN, sessionId: 's' });
    expect(events[1]).toMatchObject({ seq: 2, redaction: { reason: 'a name' } });
    expect((await service.getSession({ ...ANN, sessionId: 's' }))?.state.has('name')).toBe(false);
    expect(await isAccepted(say(service, 's'))).toBe(false);
  });

  it('refuse appends beyond a minute of all instances, write nothing of them, and begin again with the next', async () => {
    const [one, two] = [start({ user: { appendsPerMinute: 20 } }), start({ user: { appendsPerMinute: 20 } })];
    await one.createSession({ ...ANN, sessionId: 's' });
    const tries = Array.from({ length: 60 }, (_, index) => say(index % 2 === 0 ? one : two, 's'));
    const refused = refusalsOf(await Promise.allSettled(tries));
    const { events, lastSeq } = await one.listEvents({ ...ANN, sessionId: 's', limit: 100 });
    expect(events).toHaveLength(60 - refused.length);
    expect(lastSeq).toBeLessThanOrEqual(20);
    for (const error of refused) {
      expect(error).toMatchObject({ code: 'QUOTA_EXCEEDED', status: 429, retryAfterMs: 59_000 });
      expect(error.quota).toMatchObject({ scope: 'user', quota: 'appendsPerMinute', limit: 20, resetsAt: MINUTE });
    }
    // What an instance set aside for itself is spent too.
    for (const service of [one, two]) while (await isAccepted(say(service, 's')));
    expect((await one.listEvents({ ...ANN, sessionId: 's', limit: 100 })).lastSeq).toBe(20);
    clock.advanceSeconds(59);
    await say(two, 's');
    expect((await one.listEvents({ ...ANN, sessionId: 's', limit: 100 })).lastSeq).toBe(21);
  });

  it('let one user not take the appends of another, but those of the app', async () => {
    const sessions = start({ user: { appendsPerMinute: 3 }, app: { appendsPerMinute: 5 } });
    for (const user of [ANN, BOB]) await sessions.createSession({ ...user, sessionId: 's' });
    for (let count = 0; count < 3; count++) await say(sessions, 's');
    await expect(say(sessions, 's')).rejects.toMatchObject({ quota: { scope: 'user', used: 3 } });
    for (let count = 0; count < 2; count++) await say(sessions, 's', BOB);
    await expect(say(sessions, 's', BOB)).rejects.toMatchObject({ quota: { scope: 'app', used: 5 } });
  });

  it('give back what a refused append took of another quota', async () => {
    const sessions = start({ user: { appendsPerMinute: 10, bytesPerDay: 400 } });
    await sessions.createSession({ ...ANN, sessionId: 's' });
    const large = { ...EVENT, customMetadata: { note: 'x'.repeat(300) } };
    await sessions.appendEvent({ session: { ...ANN, id: 's' }, event: large }).catch(() => undefined);
    for (let count = 0; count < 20; count++) {
      await sessions.appendEvent({ session: { ...ANN, id: 's' }, event: large }).catch(() => undefined);
    }
    const uses = (await sessions.getUsage(ANN)).quotas;
    expect(uses).toContainEqual(expect.objectContaining({ quota: 'appendsPerMinute', limit: 10 }));
    let more = 0;
    while (more < 20 && (await isAccepted(say(sessions, 's')))) more++;
    const { lastSeq } = await sessions.listEvents({ ...ANN, sessionId: 's' });
    expect(lastSeq).toBeLessThanOrEqual(3);
    await expect(say(sessions, 's')).rejects.toMatchObject({ quota: { quota: 'bytesPerDay' } });
  });

  it('count the events of a batch one by one, and refuse at once what never fits', async () => {
    const sessions = start({ user: { appendsPerMinute: 5 } });
    await sessions.createSession({ ...ANN, sessionId: 's' });
    const batch = (length: number) => ({ session: { ...ANN, id: 's' }, events: Array.from({ length }, () => EVENT) });
    const error: unknown = await sessions.appendEvents(batch(6)).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ quota: { used: 6, limit: 5 } });
    expect(error).not.toHaveProperty('quota.resetsAt');
    await sessions.appendEvents(batch(4));
    await expect(sessions.appendEvents(batch(2))).rejects.toMatchObject({ quota: { used: 4, resetsAt: MINUTE } });
    await sessions.appendEvents(batch(1));
  });

  it('count the bytes of what a rewind brings back, and of the state with which a fork begins', async () => {
    const sessions = start({ user: { bytesPerDay: 1_000_000 } });
    const session = await sessions.createSession({ ...ANN, sessionId: 's', state: { note: 'x'.repeat(20_000) } });
    const used = async () => (await sessions.getUsage(ANN)).quotas?.[0]?.used ?? 0;
    const full = start({ user: { bytesPerDay: (await used()) + 20_000 } });
    await expect(full.forkSession({ ...ANN, sessionId: 's' })).rejects.toBeInstanceOf(QuotaExceededError);
    await sessions.appendEvent({ session, event: { ...EVENT, actions: { stateDelta: { note: '' } } } });
    const before = await used();
    await sessions.rewindSession({ ...ANN, sessionId: 's', toSeq: 0 });
    expect((await used()) - before).toBeGreaterThan(20_000);
  });

  it('never let instances have more sessions than the limit, and see at once that one exists already', async () => {
    const both = [start({ user: { sessions: 7 } }), start({ user: { sessions: 7 } })];
    const [one] = both;
    for (let count = 0; count < 2; count++) await one?.createSession({ ...ANN, sessionId: `s-${count}` });
    const tries = both.flatMap((each) => Array.from({ length: 15 }, () => each.createSession(ANN)));
    const refused = refusalsOf(await Promise.allSettled(tries));
    expect(refused).toHaveLength(25);
    expect(refused[0]?.quota).toEqual({ scope: 'user', quota: 'sessions', used: 7, limit: 7 });
    expect(refused[0]?.retryAfterMs).toBeUndefined();
    expect((await one?.listSessions({ ...ANN }))?.sessions).toHaveLength(7);
    await expect(one?.forkSession({ ...ANN, sessionId: 's-0' })).rejects.toBeInstanceOf(QuotaExceededError);
    expect(await one?.getOrCreateSession({ ...ANN, sessionId: 's-0' })).toMatchObject({ id: 's-0' });
  });

  it('keep nobody from a session that is there, however full the quota is', async () => {
    const [one, two] = [start({ user: { sessions: 1 } }), start({ user: { sessions: 1 } })];
    const key = { ...ANN, sessionId: 's' };
    await one.getOrCreateSession(key);
    for (const service of [one, two]) {
      await expect(service.createSession(key)).rejects.toMatchObject({ code: 'SESSION_EXISTS' });
      await expect(service.forkSession({ ...key, newSessionId: 's' })).rejects.toMatchObject({
        code: 'SESSION_EXISTS',
      });
      expect(await createUnlessThere(service, key)).toBeUndefined();
      expect((await service.getOrCreateSession(key)).id).toBe('s');
      expect(await isAccepted(service.createSession({ ...ANN, sessionId: 'other' }))).toBe(false);
    }
  });

  it('count no session that exists already', async () => {
    const sessions = start({ user: { sessions: 2 } });
    await sessions.createSession({ ...ANN, sessionId: 's' });
    for (let count = 0; count < 5; count++) {
      await expect(sessions.createSession({ ...ANN, sessionId: 's' })).rejects.toMatchObject({
        code: 'SESSION_EXISTS',
      });
    }
    await sessions.createSession(ANN);
    await expect(sessions.createSession(ANN)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
  });

  it('find the room of deleted and expired sessions', async () => {
    const sessions = start({ user: { sessions: 2 } }, { ttl: { enabled: true, sessionSeconds: 100 } });
    for (const sessionId of ['a', 'b']) await sessions.createSession({ ...ANN, sessionId });
    await sessions.deleteSession({ ...ANN, sessionId: 'a' });
    clock.advanceSeconds(10);
    await sessions.createSession({ ...ANN, sessionId: 'c' });
    await expect(sessions.createSession(ANN)).rejects.toMatchObject({ quota: { used: 2 } });
    clock.advanceSeconds(101);
    await sessions.purgeExpired();
    for (const sessionId of ['d', 'e']) await sessions.createSession({ ...ANN, sessionId });
    await expect(sessions.createSession(ANN)).rejects.toMatchObject({ quota: { used: 2 } });
  });

  it('are found in the usage of the user and the app', async () => {
    const sessions = start({ user: { sessions: 3, appendsPerMinute: 5 }, app: { bytesPerDay: 10_000 } });
    await sessions.createSession({ ...ANN, sessionId: 's' });
    await say(sessions, 's');
    expect((await sessions.getUsage(ANN)).quotas).toEqual([
      { scope: 'user', quota: 'sessions', used: 1, limit: 3 },
      { scope: 'user', quota: 'appendsPerMinute', used: 1, limit: 5, resetsAt: MINUTE },
    ]);
    const [bytes] = (await sessions.getUsage({ appName: 'shop' })).quotas ?? [];
    expect(bytes).toMatchObject({ scope: 'app', quota: 'bytesPerDay', resetsAt: Date.UTC(2026, 10, 24) });
    expect(bytes?.used).toBeGreaterThan(100);
    expect(await sessions.getUsage({ ...ANN, sessionId: 's' })).not.toHaveProperty('quotas');
  });

  it('ask the store less and less often in a minute, and not at all without quotas', async () => {
    const sessions = start({ user: { appendsPerMinute: 1_600 } });
    await sessions.createSession({ ...ANN, sessionId: 's' });
    calls.length = 0;
    for (let count = 0; count < 200; count++) await say(sessions, 's');
    // Shares of 1, 1, 2, 4 … 64 and 100, each a read and a write.
    expect(calls.filter((name) => name.startsWith('entries.'))).toHaveLength(2 * 9);
    const unlimited = start(undefined);
    calls.length = 0;
    await say(unlimited, 's');
    await unlimited.createSession(ANN);
    expect(calls).toEqual(['append', 'create']);
  });

  it('ask nobody again in a minute that is used up', async () => {
    const sessions = start({ user: { appendsPerMinute: 1 } });
    await sessions.createSession({ ...ANN, sessionId: 's' });
    await say(sessions, 's');
    await expect(say(sessions, 's')).rejects.toBeInstanceOf(QuotaExceededError);
    calls.length = 0;
    for (let count = 0; count < 100; count++) await expect(say(sessions, 's')).rejects.toThrow('is used up: 1 of 1');
    expect(calls).toEqual([]);
  });

  it('of this instance ask no store', async () => {
    const [one, two] = [start({ process: { appendsPerMinute: 2 } }), start({ process: { appendsPerMinute: 2 } })];
    await one.createSession({ ...ANN, sessionId: 's' });
    calls.length = 0;
    for (const service of [one, two]) {
      for (let count = 0; count < 2; count++) await say(service, 's');
      await expect(say(service, 's')).rejects.toMatchObject({ quota: { scope: 'process', used: 2 } });
    }
    expect(calls.filter((name) => name !== 'append')).toEqual([]);
    clock.advanceSeconds(59);
    await say(one, 's');
  });

  it('may be those of a plan', async () => {
    const plans: Record<string, Quotas> = { ann: { appendsPerMinute: 2 }, bob: {} };
    const sessions = start({ user: async ({ userId }) => plans[userId] ?? { sessions: 0 } });
    for (const user of [ANN, BOB]) await sessions.createSession({ ...user, sessionId: 's' });
    for (let count = 0; count < 5; count++) await say(sessions, 's', BOB);
    for (let count = 0; count < 2; count++) await say(sessions, 's');
    await expect(say(sessions, 's')).rejects.toBeInstanceOf(QuotaExceededError);
    plans.ann = { appendsPerMinute: 4 };
    for (let count = 0; count < 2; count++) await say(sessions, 's');
    await expect(say(sessions, 's')).rejects.toMatchObject({ quota: { used: 4, limit: 4 } });
    await expect(sessions.createSession({ ...ANN, userId: 'eve' })).rejects.toMatchObject({ quota: { limit: 0 } });
  });

  it('of a function that makes a mistake are refused, and nothing is written', async () => {
    const sessions = start({ user: () => ({ appendPerMinute: 2 }) as Quotas });
    await expect(sessions.createSession(ANN)).rejects.toThrow('quotas.user must return');
    const ofApp = start({ app: () => ({ storedBytes: 2 }) as Quotas });
    await expect(ofApp.createSession(ANN)).rejects.toThrow('storedBytes can only be a quota of users.');
    expect((await sessions.listSessions(ANN)).sessions).toEqual([]);
  });
});

describe('the option quotas', () => {
  it.each([
    [{ users: {} }, 'quotas.users is no option; did you mean quotas.user?'],
    [{ user: { appendPerMinute: 2 } }, 'appendPerMinute is no quota; did you mean appendsPerMinute?'],
    [{ user: { sessions: -1 } }, 'quotas.user is {"sessions":-1}; it must be'],
    [{ user: { sessions: '5' } }, 'of whole numbers from 0 on'],
    [{ app: [] }, 'quotas.app'],
    [{ process: { sessions: 5 } }, 'sessions is no quota'],
    [{ app: { storedBytes: 5 } }, 'storedBytes can only be a quota of users.'],
    [{ process: { storedBytes: 5 } }, 'storedBytes can only be a quota of users.'],
    [{ process: () => ({}) }, 'quotas.process'],
  ])('refuses %j at the start', (quotas, message) => {
    const storage = {} as SessionStorage;
    expect(() => new SessionService({ storage, quotas } as never)).toThrow(message);
  });
});

async function say(sessions: SessionService, id: string, user = ANN): Promise<unknown> {
  return sessions.appendEvent({ session: { ...user, id }, event: EVENT });
}
