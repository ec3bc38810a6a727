import { topic } from '../contract-runner.js';
import { KEY, type ServiceFixture, expectRefusal, load, sessionWith, times, userSays } from './support.js';

export const creating = topic<ServiceFixture>('createSession', (test) => {
  test('a new session has version 0 and no events', async ({ open, clock }) => {
    const { sessions } = await open();
    const session = await sessions.createSession({ ...KEY, state: { step: 1 } });
    const now = clock.now();
    expect(session).toMatchObject({ id: 's-1', appName: 'shop', userId: 'ann', version: 0, events: [] });
    expect(session).toMatchObject({ createTime: now, lastUpdateTime: now, conversationCount: 0 });
    expect(session.state.toRecord()).toEqual({ step: 1 });
  });

  test('getSession returns what createSession returned', async ({ open }) => {
    const { sessions } = await open();
    const created = await sessions.createSession({ ...KEY, state: { a: 1, 'user:b': 2, 'app:c': 3 } });
    const read = await load(sessions);
    expect({ ...read, state: read.state.toRecord() }).toEqual({ ...created, state: created.state.toRecord() });
  });

  test('a blank session id is generated, another one each time', async ({ open }) => {
    const { sessions } = await open();
    const ids = new Set<string>();
    for (const sessionId of [undefined, '', '  ', '\n\t']) {
      const { id } = await sessions.createSession({ ...KEY, sessionId });
      expect(id).toMatch(/^\S{16,}$/);
      expect(await sessions.getSession({ ...KEY, sessionId: id })).toBeDefined();
      ids.add(id);
    }
    expect(ids.size).toBe(4);
  });

  test('an id in use is refused, and its session is unchanged', async ({ open }) => {
    const { sessions, raw } = await open();
    await sessionWith(sessions, [userSays('hello')]);
    const before = await raw();
    const again = { ...KEY, state: { k: 'new', 'user:k': 'new', 'app:k': 'new' } };
    await expectRefusal(sessions.createSession(again), 'SESSION_EXISTS', { sessionId: 's-1' });
    expect(await raw()).toEqual(before);
  });

  test('one of several concurrent creates succeeds, and the others are refused', async ({ open }) => {
    const { sessions } = await open();
    const answers = await Promise.allSettled(
      times(10, async (index) => sessions.createSession({ ...KEY, state: { winner: index } })),
    );
    const created = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
    expect(created).toHaveLength(1);
    for (const reason of refused) expect(reason).toMatchObject({ code: 'SESSION_EXISTS' });
    expect((await load(sessions)).state.toRecord()).toEqual(created[0]?.state.toRecord());
  });

  test('the same session id of another user or app is another session', async ({ open }) => {
    const { sessions } = await open();
    const keys = [KEY, { ...KEY, userId: 'bob' }, { ...KEY, appName: 'other' }];
    for (const key of keys) await sessions.createSession({ ...key, state: { of: `${key.appName}/${key.userId}` } });
    for (const key of keys) {
      const { state } = await load(sessions, key);
      expect(state.toRecord()).toEqual({ of: `${key.appName}/${key.userId}` });
    }
  });

  test('ids are compared byte for byte', async ({ open }) => {
    const { sessions } = await open();
    for (const sessionId of ['A', 'a', 'é', 'e\u0301', 'ß', 'ss', 'ı', 'i']) {
      expect(await sessions.getSession({ ...KEY, sessionId })).toBeUndefined();
      await sessions.createSession({ ...KEY, sessionId, state: { sessionId } });
    }
    expect((await load(sessions, { sessionId: 'a' })).state.toRecord()).toEqual({ sessionId: 'a' });
    expect((await load(sessions, { sessionId: 'e\u0301' })).state.toRecord()).toEqual({ sessionId: 'e\u0301' });
    expect(await sessions.getSession({ ...KEY, userId: 'ANN', sessionId: 'a' })).toBeUndefined();
  });

  test('the save key belongs to one user, with any characters in the ids', async ({ open }) => {
    const { sessions } = await open();
    const saveKey = async (appName: string, userId: string): Promise<string> =>
      (await sessions.createSession({ appName, userId })).saveKey;
    expect(await saveKey('shop', 'ann')).toBe(await saveKey('shop', 'ann'));
    const keys = [
      await saveKey('a/b', 'c'),
      await saveKey('a', 'b/c'),
      await saveKey('a', 'b'),
      await saveKey('b', 'a'),
    ];
    expect(new Set(keys).size).toBe(4);
  });
});

export const getting = topic<ServiceFixture>('getSession and getOrCreateSession', (test) => {
  test('a missing session is undefined, and reading it writes nothing', async ({ open }) => {
    const { sessions, raw } = await open();
    expect(await sessions.getSession(KEY)).toBeUndefined();
    await sessions.createSession({ ...KEY, userId: 'bob' });
    const before = await raw();
    expect(await sessions.getSession(KEY)).toBeUndefined();
    expect(await raw()).toEqual(before);
  });

  test('getOrCreateSession returns an existing session unchanged', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [userSays('hello', { actions: { stateDelta: { k: 'old' } } })]);
    const session = await sessions.getOrCreateSession({ ...KEY, state: { k: 'new', 'user:k': 'new' } });
    expect(session.events).toHaveLength(1);
    expect(session.state.toRecord()).toEqual({ k: 'old' });
  });

  test('getOrCreateSession creates a missing session', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessions.getOrCreateSession({ ...KEY, state: { k: 'new' } });
    expect(session).toMatchObject({ id: 's-1', version: 0 });
    expect((await load(sessions)).state.toRecord()).toEqual({ k: 'new' });
  });

  test('getOrCreateSession without an id creates a session each time', async ({ open }) => {
    const { sessions } = await open();
    const first = await sessions.getOrCreateSession({ appName: 'shop', userId: 'ann' });
    const second = await sessions.getOrCreateSession({ appName: 'shop', userId: 'ann', sessionId: ' ' });
    expect(first.id).not.toBe(second.id);
  });

  test('concurrent calls of getOrCreateSession get the same session', async ({ open }) => {
    const { sessions, raw } = await open();
    const answers = await Promise.all(
      times(10, async (index) => sessions.getOrCreateSession({ ...KEY, state: { winner: index } })),
    );
    const states = answers.map(({ state }) => state.toRecord());
    for (const state of states) expect(state).toEqual(states[0]);
    expect((await raw()).sessions).toBe(1);
  });
});
