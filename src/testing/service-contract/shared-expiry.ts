import { topic } from '../contract-runner.js';
import { KEY, type ServiceFixture, USER, agentSays, appendAll, load, sessionWith, turns, userSays } from './support.js';

const SHARED = { 'user:k': 1, 'app:k': 1 };
const TTL = { enabled: true, sessionSeconds: 0, userStateSeconds: 10, appStateSeconds: 20 };

export const sharedExpiry = topic<ServiceFixture>('expiry of shared state, and cleanup', (test) => {
  test('session, user and app state have separate lifetimes', async ({ open, clock }) => {
    const { sessions } = await open({ ttl: { ...TTL, sessionSeconds: 30, refreshOnRead: false } });
    await sessions.createSession({ ...KEY, state: { k: 1, ...SHARED } });
    const stateNow = async () => (await load(sessions)).state.toRecord();
    clock.advance(9_999);
    expect(await stateNow()).toEqual({ k: 1, ...SHARED });
    clock.advance(1);
    expect(await stateNow()).toEqual({ k: 1, 'app:k': 1 });
    expect(await sessions.getUserState(USER)).toEqual({});
    clock.advance(10_000);
    expect(await stateNow()).toEqual({ k: 1 });
    expect(await sessions.getAppState(USER)).toEqual({});
    clock.advance(10_000);
    expect(await sessions.getSession(KEY)).toBeUndefined();
  });

  test('user state can exist longer than all sessions', async ({ open, clock }) => {
    const { sessions } = await open({ ttl: { enabled: true, sessionSeconds: 10 } });
    await sessions.createSession({ ...KEY, state: SHARED });
    clock.advance(10_000);
    expect(await sessions.getSession(KEY)).toBeUndefined();
    await sessions.purgeExpired();
    expect(await sessions.getUserState(USER)).toEqual({ k: 1 });
    expect((await sessions.createSession(KEY)).state.toRecord()).toEqual(SHARED);
  });

  test('a new key does not bring back expired state', async ({ open, clock }) => {
    const { sessions } = await open({ ttl: TTL });
    await sessions.createSession({ ...KEY, state: SHARED });
    clock.advance(20_000);
    await appendAll(sessions, [agentSays('one', { actions: { stateDelta: { 'user:new': 2 } } })]);
    expect(await sessions.updateAppState({ ...USER, stateDelta: { new: 2 } })).toEqual({ new: 2 });
    expect((await load(sessions)).state.toRecord()).toEqual({ 'user:new': 2, 'app:new': 2 });
  });

  test('a write renews the state of its scope', async ({ open, clock }) => {
    const { sessions } = await open({ ttl: { ...TTL, refreshOnRead: false } });
    await sessions.createSession({ ...KEY, state: SHARED });
    clock.advance(9_999);
    await sessions.updateUserState({ ...USER, stateDelta: { other: 1 } });
    clock.advance(9_999);
    expect(await sessions.getUserState(USER)).toEqual({ k: 1, other: 1 });
    clock.advance(1);
    expect(await sessions.getUserState(USER)).toEqual({});
  });

  test('an append and a read renew the shared state that they merge', async ({ open, clock }) => {
    const { sessions } = await open({ ttl: TTL });
    await sessions.createSession({ ...KEY, state: SHARED });
    clock.advance(9_999);
    await appendAll(sessions, [userSays('one')]);
    clock.advance(9_999);
    await load(sessions);
    clock.advance(9_999);
    expect((await load(sessions)).state.toRecord()).toEqual(SHARED);
  });

  test('a read of shared state renews it', async ({ open, clock }) => {
    const { sessions } = await open({ ttl: TTL });
    await sessions.updateUserState({ ...USER, stateDelta: { k: 1 } });
    for (let round = 0; round < 3; round++) {
      clock.advance(9_999);
      expect(await sessions.getUserState(USER)).toEqual({ k: 1 });
    }
    clock.advance(10_000);
    expect(await sessions.getUserState(USER)).toEqual({});
  });

  test('a read of shared state renews nothing with refreshOnRead: false', async ({ open, clock }) => {
    const { sessions } = await open({ ttl: { ...TTL, refreshOnRead: false } });
    await sessions.updateUserState({ ...USER, stateDelta: { k: 1 } });
    clock.advance(9_999);
    expect(await sessions.getUserState(USER)).toEqual({ k: 1 });
    clock.advance(1);
    expect(await sessions.getUserState(USER)).toEqual({});
  });

  test('cleaning up removes expired data, and returns the counts', async ({ open, clock }) => {
    const { sessions, raw } = await open({ ttl: { ...TTL, sessionSeconds: 10 } });
    for (const userId of ['ann', 'bob', 'cyd']) {
      const session = await sessions.createSession({ ...KEY, userId, state: { k: 'canary', 'user:k': 1, 'app:k': 1 } });
      await sessions.appendEvent({ session, event: userSays('canary') });
    }
    clock.advance(20_000);
    const alive = await sessions.createSession({ appName: 'other', userId: 'ann', sessionId: 's', state: { k: 1 } });
    await sessions.appendEvent({ session: alive, event: userSays('alive') });
    expect(await sessions.purgeExpired({ batchSize: 2 })).toEqual({ sessions: 3, userStates: 3, appStates: 1 });
    const { text, ...counts } = await raw();
    expect(counts).toEqual({ sessions: 1, events: 1, stateEntries: 1 });
    expect(text).not.toContain('canary');
    expect(await sessions.purgeExpired()).toEqual({ sessions: 0, userStates: 0, appStates: 0 });
  });

  test('cleaning up does not disturb concurrent appends', async ({ open, clock }) => {
    const { sessions } = await open({ ttl: { enabled: true, sessionSeconds: 10 } });
    for (let index = 0; index < 20; index++) await sessions.createSession({ ...USER, sessionId: `old${index}` });
    clock.advance(10_000);
    const session = await sessionWith(sessions, turns('u'));
    const [purged] = await Promise.all([
      sessions.purgeExpired({ batchSize: 3 }),
      ...turns('a', 'u', 'a').map(async (event) => sessions.appendEvent({ session, event })),
    ]);
    expect(purged.sessions).toBe(20);
    expect(session.version).toBe(4);
  });

  test('expired state of a user whose last session was deleted is purged', async ({ open, clock }) => {
    const { sessions, raw } = await open({ ttl: { enabled: true, userStateSeconds: 7 } });
    await sessions.createSession(KEY);
    await sessions.updateUserState({ ...USER, stateDelta: { a: 1 } });
    clock.advance(10_000);
    await sessions.deleteSession(KEY);
    expect(await sessions.purgeExpired()).toEqual({ sessions: 0, userStates: 1, appStates: 0 });
    expect(await raw()).toMatchObject({ sessions: 0, events: 0, stateEntries: 0 });
  });
});
