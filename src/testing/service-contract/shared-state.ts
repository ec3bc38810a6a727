import { topic } from '../contract-runner.js';
import {
  KEY,
  type ServiceFixture,
  USER,
  agentSays,
  appendAll,
  expectRefusal,
  load,
  sessionWith,
  times,
} from './support.js';

export const sharedState = topic<ServiceFixture>('shared state', (test) => {
  test('shared state is empty before it is written', async ({ open }) => {
    const { sessions } = await open();
    expect(await sessions.getUserState(USER)).toEqual({});
    expect(await sessions.getAppState(USER)).toEqual({});
  });

  test('shared state is written without a session, and returned after the write', async ({ open }) => {
    const { sessions, raw } = await open();
    await sessions.updateUserState({ ...USER, stateDelta: { a: 1, b: 2 } });
    const user = await sessions.updateUserState({ ...USER, stateDelta: { c: null }, stateRemovals: ['a', 'never'] });
    expect(user).toEqual({ b: 2, c: null });
    expect(await sessions.getUserState(USER)).toEqual({ b: 2, c: null });
    expect(await sessions.updateAppState({ appName: 'shop', stateDelta: { a: [] } })).toEqual({ a: [] });
    expect(await sessions.getAppState({ appName: 'shop' })).toEqual({ a: [] });
    expect(await raw()).toMatchObject({ sessions: 0, events: 0, stateEntries: 3 });
  });

  test('the scope prefix of keys is optional', async ({ open }) => {
    const { sessions } = await open();
    await sessions.updateUserState({ ...USER, stateDelta: { 'user:a': 1, b: 1, 'user:app:c': 1 } });
    await sessions.updateUserState({ ...USER, stateRemovals: ['a', 'user:b'] });
    expect(await sessions.getUserState(USER)).toEqual({ 'app:c': 1 });
    await sessions.updateAppState({ appName: 'shop', stateDelta: { 'app:a': 1, b: 1 } });
    expect(await sessions.getAppState(USER)).toEqual({ a: 1, b: 1 });
  });

  test('keys of another scope are refused', async ({ open }) => {
    const { sessions, raw } = await open();
    const before = await raw();
    const refusals = [
      sessions.updateUserState({ ...USER, stateDelta: { ok: 1, 'app:k': 1 } }),
      sessions.updateUserState({ ...USER, stateDelta: { ok: 1, 'temp:k': 1 } }),
      sessions.updateUserState({ ...USER, stateRemovals: ['app:k'] }),
      sessions.updateAppState({ ...USER, stateDelta: { ok: 1, 'user:k': 1 } }),
    ];
    for (const refusal of refusals) await expectRefusal(refusal, 'INVALID_INPUT');
    expect(await raw()).toEqual(before);
  });

  test('a key that is set both with and without its prefix is refused', async ({ open }) => {
    const { sessions, raw } = await open();
    const before = await raw();
    const change = { ...USER, stateDelta: { k: 1, 'user:k': 2 } };
    await expectRefusal(sessions.updateUserState(change), 'INVALID_INPUT');
    expect(await raw()).toEqual(before);
  });

  test('a key that is both set and removed is refused, with and without its prefix', async ({ open }) => {
    const { sessions, raw } = await open();
    const before = await raw();
    const removal = { ...USER, stateDelta: { k: 1 }, stateRemovals: ['user:k'] };
    await expectRefusal(sessions.updateUserState(removal), 'INVALID_INPUT');
    await expectRefusal(sessions.updateUserState({ ...removal, stateRemovals: ['k'] }), 'INVALID_INPUT');
    expect(await raw()).toEqual(before);
  });

  test('users and apps do not share state with each other', async ({ open }) => {
    const { sessions } = await open();
    const users = [USER, { ...USER, userId: 'Ann' }, { ...USER, appName: 'Shop' }];
    for (const user of users) await sessions.updateUserState({ ...user, stateDelta: { of: user } });
    await sessions.updateAppState({ appName: 'shop', stateDelta: { of: 'app' } });
    for (const user of users) expect(await sessions.getUserState(user)).toEqual({ of: user });
    expect(await sessions.getAppState({ appName: 'Shop' })).toEqual({});
  });

  test('sessions and direct writes see the same shared state', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions);
    await sessions.updateUserState({ ...USER, stateDelta: { direct: 1 } });
    await appendAll(sessions, [agentSays('one', { actions: { stateDelta: { 'user:event': 1 } } })]);
    expect(await sessions.getUserState(USER)).toEqual({ direct: 1, event: 1 });
    expect((await load(sessions)).state.toRecord()).toEqual({ 'user:direct': 1, 'user:event': 1 });
  });

  test('parallel writes of different keys lose nothing', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    await Promise.all(
      times(12, async (index) =>
        index % 2 === 0
          ? sessions.updateUserState({ ...USER, stateDelta: { [`k${index}`]: index } })
          : sessions.appendEvent({
              session,
              event: agentSays('e', { actions: { stateDelta: { [`user:k${index}`]: index } } }),
            }),
      ),
    );
    const expected = Object.fromEntries(times(12, (index) => [`k${index}`, index]));
    expect(await sessions.getUserState(USER)).toEqual(expected);
  });

  test('a write of shared state appends no event', async ({ open, clock }) => {
    const { sessions } = await open();
    const { createTime } = await sessionWith(sessions);
    clock.advance(1000);
    await sessions.updateUserState({ ...USER, stateDelta: { k: 1 } });
    await sessions.updateAppState({ ...USER, stateDelta: { k: 1 } });
    expect(await load(sessions)).toMatchObject({ version: 0, events: [], lastUpdateTime: createTime });
  });

  test('an empty write changes nothing', async ({ open }) => {
    const { sessions, raw } = await open();
    await sessions.updateUserState({ ...USER, stateDelta: { k: 1 } });
    const before = await raw();
    expect(await sessions.updateUserState(USER)).toEqual({ k: 1 });
    expect(await sessions.updateAppState({ ...USER, stateDelta: {}, stateRemovals: [] })).toEqual({});
    expect(await raw()).toEqual(before);
  });

  test('user ids that are similar or contain wildcards do not share state', async ({ open }) => {
    const { sessions } = await open();
    await sessions.createSession({ ...KEY, state: { 'user:k': 1 } });
    expect(await sessions.getUserState({ ...USER, userId: 'an' })).toEqual({});
    expect(await sessions.getUserState({ ...USER, userId: 'ann*' })).toEqual({});
    expect(await sessions.getUserState({ ...USER, userId: '%' })).toEqual({});
  });
});
