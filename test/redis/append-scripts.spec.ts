import { SessionService } from '../../src/index.js';
import { WRITE_SESSIONS } from '../../src/sessions/storage/redis/append/write-sessions.lua.js';
import { RedisKeys } from '../../src/sessions/storage/redis/redis-keys.js';
import { observedRedis } from '../support/observed-redis.js';
import { callsOfScripts } from '../support/redis-monitor.js';
import { type RedisBench, describeRedis } from '../support/redis-servers.js';

const USER = { appName: 'shop', userId: 'ann' };
const eventOf = (id: string, stateDelta = {}) => ({
  id,
  author: 'agent',
  invocationId: 'i-1',
  actions: { stateDelta },
});

/** A service, and how many scripts it has sent for appends. */
function countedService(bench: RedisBench): { sessions: SessionService; scripts: () => number } {
  let count = 0;
  const beforeScript = (sha: string): void => {
    if (sha === WRITE_SESSIONS.sha) count += 1;
  };
  const storage = bench.storage({ client: observedRedis(bench.client(), { beforeScript }) });
  return { sessions: new SessionService({ storage }), scripts: () => count };
}

/** Only a large state has a key of its own. */
const LARGE = 'x'.repeat(2_000);

describeRedis('Appends of a process to a $name store', ['redis', 'redis-cluster'], (bench) => {
  it('that are called together are one script, in their order', async () => {
    const { sessions, scripts } = countedService(bench());
    const [one, two] = [await sessions.createSession(USER), await sessions.createSession(USER)];
    for (const round of ['a', 'b', 'c']) {
      const before = scripts();
      const stored = await Promise.all(
        [one, two, one, two, one].map((session, index) =>
          sessions.appendEvent({ session, event: eventOf(`${round}-${index}`, { round, [`k${index}`]: index }) }),
        ),
      );
      expect(scripts() - before).toBe(1);
      const base = (stored[0]?.seq ?? 0) - 1;
      expect([0, 2, 4].map((index) => stored[index]?.seq)).toEqual([base + 1, base + 2, base + 3]);
    }
    for (const { id } of [one, two]) {
      const found = await sessions.getSession({ ...USER, sessionId: id });
      expect(found?.version).toBe(id === one.id ? 9 : 6);
      expect(found?.state.get('round')).toBe('c');
    }
  });

  it('have outcomes of their own: one that is refused or fails does not affect the others', async () => {
    const { sessions, scripts } = countedService(bench());
    const session = await sessions.createSession(USER);
    const broken = await sessions.createSession(USER);
    const client = bench().client();
    const state = new RedisKeys(bench().prefix).ownStateOf({ ...USER, sessionId: broken.id });
    await client.set(state, 'foreign');
    await sessions.appendEvent({ session, event: eventOf('e-1') });
    const before = scripts();
    const outcomes = await Promise.allSettled([
      sessions.appendEvent({ session, event: eventOf('e-2') }),
      sessions.appendEvent({ session: { ...USER, id: 'gone' }, event: eventOf('e-2') }),
      sessions.appendEvent({ session, event: eventOf('e-1') }),
      sessions.appendEvent({ session: broken, event: eventOf('e-2', { k: LARGE }) }),
      sessions.appendEvent({ session, event: eventOf('e-3'), expectedVersion: 1 }),
      sessions.appendEvent({ session, event: eventOf('e-4') }),
    ]);
    expect(
      outcomes.map((one) => (one.status === 'fulfilled' ? one.value.seq : (one.reason as { code: string }).code)),
    ).toEqual([2, 'SESSION_NOT_FOUND', 1, 'STORE_UNAVAILABLE', 'STALE_SESSION', 3]);
    expect(outcomes[3]).toMatchObject({ reason: { eventId: 'e-2', outcomeUnknown: false } });
    // All together, then each of these two sessions by itself.
    expect(scripts() - before).toBe(3);
    await client.del(state);
  });

  it('of different users are one script for each slot', async () => {
    const { sessions, scripts } = countedService(bench());
    const users = ['ann', 'bob', 'cid'];
    const created = await Promise.all(users.map((userId) => sessions.createSession({ appName: 'shop', userId })));
    const append = (id: string) =>
      Promise.all(created.map((session) => sessions.appendEvent({ session, event: eventOf(id) })));
    await append('e-1');
    const before = scripts();
    expect((await append('e-2')).map(({ seq }) => seq)).toEqual([2, 2, 2]);
    expect(scripts() - before).toBe(bench().name === 'redis' ? 1 : 3);
  });

  it('notice what others did to the session meanwhile, and are planned again on what the script found', async () => {
    const [one, other] = [countedService(bench()), countedService(bench())];
    const session = await one.sessions.createSession({ ...USER, state: { k: 0 } });
    const there = await other.sessions.getSession({ ...USER, sessionId: session.id });
    if (!there) throw new Error('The session is gone');
    for (let round = 0; round < 4; round++) {
      await one.sessions.appendEvent({ session, event: eventOf(`one-${round}`, { k: round }) });
      await one.sessions.appendEvent({ session, event: eventOf(`same-${round}`) });
      await other.sessions.appendEvent({ session: there, event: { ...eventOf(`other-${round}`), author: 'user' } });
    }
    // One more for each append that another process has overtaken.
    expect([one.scripts(), other.scripts()]).toEqual([8 + 3, 4 + 4]);
    const turn = await other.sessions.beginTurn({ ...USER, sessionId: session.id });
    await one.sessions.appendEvent({ session, event: eventOf('beside the turn') });
    await other.sessions.appendEvent({ session: there, event: eventOf('in the turn'), turn, endTurn: true });
    await one.sessions.deleteSession({ ...USER, sessionId: session.id });
    await expect(one.sessions.appendEvent({ session, event: eventOf('late') })).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
    await one.sessions.createSession({ ...USER, sessionId: session.id });
    const again = { ...USER, id: session.id };
    expect((await one.sessions.appendEvent({ session: again, event: eventOf('late') })).seq).toBe(1);
  });
});

describeRedis('The scripts of a $name store', ['redis'], (bench) => {
  it('make few calls for an append to a known session, and for a session of a user who has others', async () => {
    const sessions = new SessionService({ storage: bench().storage() });
    const session = await sessions.createSession(USER);
    await sessions.appendEvent({ session, event: eventOf('e-1') });
    const calls = await callsOfScripts(bench().prefix, async () => {
      await sessions.appendEvent({ session, event: eventOf('e-2', { step: 1, stage: 'delivery' }) });
    });
    expect(calls).toEqual(['hmget', 'zadd', 'zadd', 'hset', 'publish']);
    const used = { modelVersion: 'large', usageMetadata: { totalTokenCount: 7 } };
    await sessions.appendEvent({ session, event: { ...eventOf('e-3'), ...used } });
    const withUsage = await callsOfScripts(bench().prefix, async () => {
      await sessions.appendEvent({ session, event: { ...eventOf('e-4', { step: 2, stage: 'delivery' }), ...used } });
    });
    // One read and one write for its user and its app.
    expect(withUsage.toSorted()).toEqual(
      [...calls, ...['hmget', 'hset'].flatMap((name) => Array<string>(2).fill(name))].toSorted(),
    );
    expect((await sessions.getUsage({ appName: 'shop' })).total).toMatchObject({ events: 2, totalTokens: 14 });
    const ofCreation = await callsOfScripts(
      bench().prefix,
      async () => void (await sessions.createSession({ ...USER, state: { k: 1 } })),
    );
    expect(ofCreation).toHaveLength(10);
    expect(ofCreation.filter((name) => name === 'hset' || name === 'zadd')).toHaveLength(5);
  });
});
