import { topic } from '../contract-runner.js';
import {
  type ServiceFixture,
  KEY,
  agentSays,
  appendAll,
  expectRefusal,
  load,
  sessionWith,
  userSays,
  wholeLog,
} from './support.js';

export const saving = topic<ServiceFixture>('updateSession', (test) => {
  test('what was changed in the state is saved as one event by the system', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessions.createSession({ ...KEY, state: { gone: 1, same: 1 } });
    session.state.k = 1;
    session.state.set('user:k', null);
    delete session.state.gone;
    const saved = await sessions.updateSession(session);
    expect(saved).toMatchObject({ seq: 1, author: 'system' });
    expect(saved?.actions).toEqual({ stateDelta: { k: 1, 'user:k': null }, stateRemovals: ['gone'] });
    expect(await wholeLog(sessions)).toEqual([saved]);
    expect((await load(sessions)).state.toRecord()).toEqual({ same: 1, k: 1, 'user:k': null });
    expect(session.state.hasDelta()).toBe(false);
    expect(session).toMatchObject({ version: 1, events: [saved] });
  });

  test('where nothing was changed nothing is saved', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessionWith(sessions, [userSays('one')]);
    const before = await raw();
    expect(await sessions.updateSession(session)).toBeUndefined();
    session.state.set('temp:k', 1);
    expect(await sessions.updateSession(session)).toBeUndefined();
    expect(await raw()).toEqual(before);
    expect(session.state.get('temp:k')).toBe(1);
  });

  test('an append neither writes nor clears direct changes of the state', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessions.createSession({ ...KEY, state: { both: 0, gone: 0 } });
    session.state.set('direct', 1);
    session.state.set('both', 'direct');
    session.state.delete('gone');
    const event = agentSays('one', { actions: { stateDelta: { both: 'event', gone: 'event' } } });
    await sessions.appendEvent({ session, event });
    expect((await load(sessions)).state.toRecord()).toEqual({ both: 'event', gone: 'event' });
    expect(session.state.toRecord()).toEqual({ both: 'direct', direct: 1 });
    await sessions.updateSession(session);
    expect((await load(sessions)).state.toRecord()).toEqual({ both: 'direct', direct: 1 });
  });

  test('saving replaces neither events nor changes of others', async ({ open }) => {
    const { sessions } = await open();
    const [first, second] = [await sessionWith(sessions, [userSays('one')]), await load(sessions)];
    first.state.set('of first', 1);
    second.state.set('of second', 2);
    second.events.length = 0;
    await appendAll(sessions, [agentSays('two')]);
    await Promise.all([sessions.updateSession(first), sessions.updateSession(second)]);
    const read = await load(sessions);
    expect(read.state.toRecord()).toEqual({ 'of first': 1, 'of second': 2 });
    expect(read.events.map(({ author }) => author)).toEqual(['user', 'agent', 'system', 'system']);
  });

  test('changes that were refused stay pending', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    await appendAll(sessions, [agentSays('one')]);
    session.state.set('k', 1);
    const stale = { expectedVersion: 0, currentVersion: 1 };
    await expectRefusal(sessions.updateSession(session, { expectedVersion: 0 }), 'STALE_SESSION', stale);
    expect(session.state.hasDelta()).toBe(true);
    session.state.set('bad', NaN);
    await expectRefusal(sessions.updateSession(session), 'INVALID_INPUT', { path: '$.actions.stateDelta.bad' });
    session.state.delete('bad');
    expect(await sessions.updateSession(session, { expectedVersion: 1 })).toMatchObject({ seq: 2 });
    expect((await load(sessions)).state.toRecord()).toEqual({ k: 1 });
  });

  test('what is changed while a save is under way stays pending', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessions.createSession({ ...KEY, state: { changed: 0, removed: 0 } });
    session.state.update({ changed: 1, removed: 1, saved: 1 });
    const save = sessions.updateSession(session);
    session.state.update({ changed: 2, added: 2 });
    session.state.delete('removed');
    await save;
    expect(session.state.toRecord()).toEqual({ changed: 2, saved: 1, added: 2 });
    await sessions.updateSession(session);
    expect((await load(sessions)).state.toRecord()).toEqual({ changed: 2, saved: 1, added: 2 });
  });

  test('a new key that is deleted while its save is under way is gone after the next', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    session.state.set('draft', 1);
    const save = sessions.updateSession(session);
    session.state.delete('draft');
    await save;
    expect(session.state.has('draft')).toBe(false);
    await sessions.updateSession(session);
    expect((await load(sessions)).state.toRecord()).toEqual({});
  });

  test('a value that is changed inside and set again while it is saved is saved by the next', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    const cart = { items: 1 };
    session.state.set('cart', cart);
    const save = sessions.updateSession(session);
    cart.items = 2;
    session.state.set('cart', cart);
    expect((await save)?.actions.stateDelta).toEqual({ cart: { items: 1 } });
    expect(session.state.hasDelta()).toBe(true);
    await sessions.updateSession(session);
    expect((await load(sessions)).state.toRecord()).toEqual({ cart: { items: 2 } });
  });
});
