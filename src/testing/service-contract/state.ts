import { topic } from '../contract-runner.js';
import {
  KEY,
  REFERENCE,
  type ServiceFixture,
  agentSays,
  appendAll,
  expectRefusal,
  load,
  sessionWith,
  wholeLog,
} from './support.js';

const ALL_SCOPES = { k: 'session', 'user:k': 'user', 'app:k': 'app', 'temp:k': 'temp' };
const STORED_SCOPES = { k: 'session', 'user:k': 'user', 'app:k': 'app' };

export const scopes = topic<ServiceFixture>('state in four scopes', (test) => {
  test('initial state is split by scope, and temp: keys are dropped', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessions.createSession({ ...KEY, state: { ...ALL_SCOPES, 'temp:canary': 'canary' } });
    expect(session.state.toRecord()).toEqual(STORED_SCOPES);
    expect(await sessions.getUserState(KEY)).toEqual({ k: 'user' });
    expect(await sessions.getAppState(KEY)).toEqual({ k: 'app' });
    expect((await raw()).text).not.toContain('canary');
  });

  test('an event changes state in every scope that its keys name', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, [agentSays('one', { actions: { stateDelta: STORED_SCOPES } })]);
    expect(session.state.toRecord()).toEqual(STORED_SCOPES);
    expect((await load(sessions)).state.toRecord()).toEqual(STORED_SCOPES);
    expect(await sessions.getUserState(KEY)).toEqual({ k: 'user' });
    expect(await sessions.getAppState(KEY)).toEqual({ k: 'app' });
  });

  test('user state is visible in all sessions of the user in the app, app state in all sessions of the app', async ({
    open,
  }) => {
    const { sessions } = await open();
    const keys = {
      sameUser: { ...KEY, sessionId: 's-2' },
      otherUser: { ...KEY, userId: 'bob' },
      otherApp: { ...KEY, appName: 'other' },
    };
    for (const key of Object.values(keys)) await sessions.createSession(key);
    await sessionWith(sessions, [agentSays('one', { actions: { stateDelta: STORED_SCOPES } })]);
    const stateOf = async (key: typeof KEY) => (await load(sessions, key)).state.toRecord();
    expect(await stateOf(keys.sameUser)).toEqual({ 'user:k': 'user', 'app:k': 'app' });
    expect(await stateOf(keys.otherUser)).toEqual({ 'app:k': 'app' });
    expect(await stateOf(keys.otherApp)).toEqual({});
  });

  test('prefixes are case-sensitive, and only a complete prefix selects a scope', async ({ open }) => {
    const { sessions } = await open();
    const state = { 'User:k': 1, 'APP:k': 2, user: 3, 'user.k': 4, ' user:k': 5, 'Temp:k': 6, temp_k: 7 };
    await sessions.createSession({ ...KEY, state });
    expect((await load(sessions)).state.toRecord()).toEqual(state);
    expect(await sessions.getUserState(KEY)).toEqual({});
    expect(await sessions.getAppState(KEY)).toEqual({});
  });

  test('scopes never collide, even if a name looks like a prefix', async ({ open }) => {
    const { sessions } = await open();
    const state = { k: 1, 'user:k': 2, 'app:k': 3, 'user:app:k': 4, 'app:user:k': 5, 'app:app:k': 6, 'user:temp:k': 7 };
    await sessions.createSession({ ...KEY, state });
    expect((await load(sessions)).state.toRecord()).toEqual(state);
    expect(await sessions.getUserState(KEY)).toEqual({ k: 2, 'app:k': 4, 'temp:k': 7 });
    expect(await sessions.getAppState(KEY)).toEqual({ k: 3, 'user:k': 5, 'app:k': 6 });
  });

  test('null is a stored value, and only a removal removes a key', async ({ open }) => {
    const { sessions } = await open();
    await sessions.createSession({ ...KEY, state: { ...STORED_SCOPES, kept: 1 } });
    const nulls = { k: null, 'user:k': null, 'app:k': null };
    await appendAll(sessions, [agentSays('nulls', { actions: { stateDelta: nulls } })]);
    expect((await load(sessions)).state.toRecord()).toEqual({ ...nulls, kept: 1 });
    await appendAll(sessions, [agentSays('gone', { actions: { stateRemovals: ['k', 'user:k', 'app:k', 'never'] } })]);
    expect((await load(sessions)).state.toRecord()).toEqual({ kept: 1 });
    expect(await sessions.getUserState(KEY)).toEqual({});
  });

  test('a removed key can be set again', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, [
      agentSays('one', { actions: { stateDelta: { k: 1 } } }),
      agentSays('two', { actions: { stateRemovals: ['k'] } }),
      agentSays('three', { actions: { stateDelta: { k: 3 } } }),
    ]);
    expect(session.state.toRecord()).toEqual({ k: 3 });
    expect((await load(sessions)).state.toRecord()).toEqual({ k: 3 });
  });

  test('a key that is both set and removed is refused', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessionWith(sessions);
    const before = await raw();
    const event = agentSays('both', { actions: { stateDelta: { 'user:k': 1 }, stateRemovals: ['user:k'] } });
    await expectRefusal(sessions.appendEvent({ session, event }), 'INVALID_INPUT', { path: '$.actions["user:k"]' });
    expect(await raw()).toEqual(before);
  });

  test('temp: keys are only in the state of the caller, neither in the event nor in the store', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessionWith(sessions);
    const actions = { stateDelta: { k: 1, 'temp:k': 'canary' }, stateRemovals: ['temp:gone'] };
    const event = agentSays('one', { actions });
    const stored = await sessions.appendEvent({ session, event });
    expect(session.state.toRecord()).toEqual({ k: 1, 'temp:k': 'canary' });
    expect(stored.actions).toEqual({ stateDelta: { k: 1 } });
    expect(session.events[0]?.actions).toEqual({ stateDelta: { k: 1 } });
    expect(event.actions).toEqual(actions);
    expect((await load(sessions)).state.toRecord()).toEqual({ k: 1 });
    expect((await raw()).text).not.toContain('canary');
  });

  test('an event can remove temp: keys from the state of the caller', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, [agentSays('one', { actions: { stateDelta: { 'temp:k': 1 } } })]);
    expect(session.state.has('temp:k')).toBe(true);
    await sessions.appendEvent({ session, event: agentSays('two', { actions: { stateRemovals: ['temp:k'] } }) });
    expect(session.state.has('temp:k')).toBe(false);
  });

  test('a state change is atomic with its event', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions);
    await Promise.all(
      ['x', 'y', 'z'].map(async (value) =>
        sessions.appendEvent({
          session: REFERENCE,
          event: agentSays(value, { actions: { stateDelta: { k: value, 'user:k': value, 'app:k': value } } }),
        }),
      ),
    );
    const last = (await wholeLog(sessions)).at(-1)?.actions.stateDelta.k;
    expect((await load(sessions)).state.toRecord()).toEqual({ k: last, 'user:k': last, 'app:k': last });
  });
});
