import { SessionService } from '../../src/index.js';
import { randomNumbers, seed } from '../support/random.js';
import { describeRedis } from '../support/redis-servers.js';
import { until } from '../support/until.js';
import { rounds } from '../support/rounds.js';

const OPERATIONS = rounds(1_000);
const HOUR = 3_600;
/** In seconds; long enough for a few calls on a busy machine. */
const BRIEF = 4;

describeRedis(`Expiry of keys of a $name store (SEED=${seed})`, ['redis', 'redis-cluster'], (bench) => {
  it(`is set on every key after ${OPERATIONS} operations, and is the same for all keys of a session`, async () => {
    const ttl = { enabled: true, sessionSeconds: HOUR, userStateSeconds: 2 * HOUR, appStateSeconds: 3 * HOUR };
    const sessions = new SessionService({ storage: bench().storage(), ttl });
    const random = randomNumbers(seed);
    const oneOf = (count: number): number => Math.floor(random() * count);
    for (let operation = 0; operation < OPERATIONS; operation++) {
      const key = { appName: `a${oneOf(2)}`, userId: `u${oneOf(3)}`, sessionId: `s${oneOf(4)}` };
      const state = { own: operation, 'user:k': operation, 'app:k': operation };
      const session = await sessions.getOrCreateSession({ ...key, state, metadata: { status: 'new' } });
      const prefix = ['', 'user:', 'app:'][oneOf(3)] ?? '';
      const actions = {
        stateDelta: { [`${prefix}${oneOf(5)}`]: operation },
        stateRemovals: [`user:k`, `own`].slice(oneOf(3)),
        ...(oneOf(4) === 0 && { metadataDelta: { status: `s${oneOf(2)}`, tags: { add: [`t${oneOf(3)}`] } } }),
      };
      const summary = { fromSeq: 1, toSeq: session.version, model: 'm', promptVersion: '1' };
      const kind = oneOf(12);
      if (kind === 0) await sessions.deleteSession(key);
      else if (kind === 1) await sessions.updateUserState({ ...key, stateDelta: { k: operation } });
      else if (kind === 2) await sessions.updateAppState({ ...key, stateDelta: { k: operation } });
      else if (kind === 3) await sessions.listSessions(key);
      else if (kind === 4 && session.version > 0) {
        const compaction = { ...summary, originalEventCount: 1, compressedEventCount: 1 };
        const content = { role: 'user', parts: [{ text: 'summary' }] };
        await sessions.appendEvent({ session, event: { author: 'system', content, actions: { compaction } } });
      } else await sessions.appendEvent({ session, event: { author: kind % 2 === 0 ? 'user' : 'agent', actions } });
    }

    const keys = await bench().keys();
    const expiries = await Promise.all(
      keys.map(async ([key, node]) => [key, Number(await node.call('PEXPIRETIME', key))] as const),
    );
    expect(expiries.length).toBeGreaterThan(24);
    expect(expiries.filter(([, expiry]) => expiry < 0)).toEqual([]);
    const ofSessions = new Map<string, Set<number>>();
    for (const [key, expiry] of expiries) {
      const owner = /^(.*):(?:session|events|ids|anchors|state|pending):([^:]*)$/.exec(key)?.slice(1).join(' ');
      if (owner) ofSessions.set(owner, (ofSessions.get(owner) ?? new Set()).add(expiry));
    }
    expect(ofSessions.size).toBeGreaterThan(10);
    for (const times of ofSessions.values()) expect(times.size).toBe(1);
  });

  it('removes partial events of sessions that never expire, and not before the last of them', async () => {
    const storage = bench().storage();
    const sessions = new SessionService({ storage });
    const key = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
    const session = await sessions.createSession(key);
    const { token: turnToken } = await sessions.beginTurn(key);
    const { incarnation = '' } = (await storage.read({ key }))?.record ?? {};
    const write = { key, incarnation, turnToken, messageId: 'm', content: '{}' };
    for (const [index, ttlMs] of [HOUR, 3 * HOUR, 2 * HOUR].entries()) {
      await storage.savePartial({ ...write, index: index + 1, ttlMs: ttlMs * 1_000 });
    }
    await sessions.appendEvent({ session, event: { author: 'user' } });
    const [name, node] = (await bench().keys()).find(([each]) => each.includes(':partials:')) ?? [];
    const left = Number(await node?.pttl(name ?? ''));
    expect(left).toBeGreaterThan(2 * HOUR * 1_000);
    expect(left).toBeLessThanOrEqual(3 * HOUR * 1_000);
  });

  it('removes everything without a purge', async () => {
    const ttl = { enabled: true, sessionSeconds: BRIEF, userStateSeconds: BRIEF, appStateSeconds: BRIEF };
    const sessions = new SessionService({ storage: bench().storage(), ttl });
    for (const userId of ['ann', 'bob']) {
      const key = { appName: 'shop', userId, sessionId: 's-1' };
      const session = await sessions.createSession({ ...key, state: { k: 1, 'user:k': 1, 'app:k': 1 } });
      await sessions.appendEvent({ session, event: { author: 'user', actions: { stateDelta: { 'app:k': 2 } } } });
    }
    const lasting = /:applied:|:users$|:apps$|:slots$/;
    const left = async () => (await bench().keys()).filter(([key]) => !lasting.test(key));
    await until(async () => (await left()).length === 0);
    expect((await sessions.listSessions({ appName: 'shop' })).sessions).toEqual([]);
    expect(await sessions.getAppState({ appName: 'shop' })).toEqual({});
  });

  it('leaves index entries that lists skip and a purge removes', async () => {
    const storage = bench().storage();
    const brief = new SessionService({ storage, ttl: { enabled: true, sessionSeconds: BRIEF } });
    const lasting = new SessionService({ storage });
    const user = { appName: 'shop', userId: 'ann' };
    const metadata = { status: 'open', tags: ['vip'] };
    await lasting.createSession({ ...user, sessionId: 'lasting', metadata });
    for (const sessionId of ['a', 'b', 'c']) await brief.createSession({ ...user, sessionId, metadata });
    const count = async (): Promise<number> =>
      (await bench().keys()).filter(([key]) => key.includes(':session:')).length;
    await until(async () => (await count()) === 1);
    const page = await lasting.listSessions({ ...user, page: 1 });
    expect(page.sessions.map(({ id }) => id)).toEqual(['lasting']);
    expect(page.totalItems).toBe(1);
    for (const orderBy of ['createTime', 'lastUpdateTime'] as const) {
      const filtered = await lasting.listSessions({ ...user, orderBy, filter: metadata });
      expect(filtered.sessions.map(({ id }) => id)).toEqual(['lasting']);
    }
    expect(await lasting.purgeExpired()).toEqual({ sessions: 3, userStates: 0, appStates: 0 });
    for (const [key, node] of await bench().keys()) {
      if (key.endsWith('by-update')) expect(await node.zcard(key)).toBe(1);
      if (key.endsWith('by-entry')) expect(await node.zcard(key)).toBe(2);
      if (key.endsWith(':entries')) expect(await node.hlen(key)).toBe(1);
    }
  });
});
