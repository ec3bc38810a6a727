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
  test('changed state is saved as one event by the author system', async ({ open }) => {
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

  test('a save without changes writes nothing', async ({ open }) => {
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

  test('a save replaces neither events nor changes of other writers', async ({ open }) => {
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

  test('refused changes stay pending', async ({ open }) => {
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

  test('changes during a save stay pending', async ({ open }) => {
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

  test('the next save removes a new key that was deleted during its save', async ({ open }) => {
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

  test('the next save has a value that was mutated and set during a save', async ({ open }) => {
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

  test('a mutation of a value is saved without setting the key', async ({ open }) => {
    const { sessions } = await open();
    const state = { cart: { items: ['a'] }, 'user:tags': [{ name: 'x' }], same: { k: [1] } };
    await sessions.createSession({ ...KEY, state });
    const session = await load(sessions);
    session.state.get<{ items: string[] }>('cart')?.items.push('b');
    session.state.get<{ name: string }[]>('user:tags')?.pop();
    expect(session.state.same).toEqual({ k: [1] });
    expect(session.state.hasDelta()).toBe(true);
    const saved = await sessions.updateSession(session);
    expect(saved?.actions.stateDelta).toEqual({ cart: { items: ['a', 'b'] }, 'user:tags': [] });
    expect((await load(sessions)).state.toRecord()).toEqual({ ...state, cart: { items: ['a', 'b'] }, 'user:tags': [] });
    expect(session.state.hasDelta()).toBe(false);
    expect(await sessions.updateSession(session)).toBeUndefined();
  });

  test('an object in the state can be mutated and saved repeatedly', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    const cart = { items: ['a'] };
    session.state.set('cart', cart);
    for (const item of ['b', 'c']) {
      await sessions.updateSession(session);
      cart.items.push(item);
    }
    const save = sessions.updateSession(session);
    cart.items.push('while it is saved');
    await save;
    expect((await load(sessions)).state.toRecord()).toEqual({ cart: { items: ['a', 'b', 'c'] } });
    await sessions.updateSession(session);
    expect((await load(sessions)).state.toRecord()).toEqual({ cart });
  });

  test('a mutation of a value stays after an append that sets the same key', async ({ open }) => {
    const { sessions } = await open();
    await sessions.createSession({ ...KEY, state: { cart: { items: ['a'] } } });
    const session = await load(sessions);
    session.state.get<{ items: string[] }>('cart')?.items.push('mine');
    await sessions.appendEvent({
      session,
      event: agentSays('one', { actions: { stateDelta: { cart: { items: [] } } } }),
    });
    expect((await load(sessions)).state.toRecord()).toEqual({ cart: { items: [] } });
    expect(session.state.toRecord()).toEqual({ cart: { items: ['a', 'mine'] } });
    await sessions.updateSession(session);
    expect((await load(sessions)).state.toRecord()).toEqual({ cart: { items: ['a', 'mine'] } });
  });

  test('a mutation of a value that an event stores is saved with the event', async ({ open }) => {
    const { sessions } = await open();
    await sessions.createSession({ ...KEY, state: { cart: { items: ['a'] } } });
    const session = await load(sessions);
    const cart = session.state.get<{ items: string[] }>('cart');
    cart?.items.push('b');
    await sessions.appendEvent({ session, event: agentSays('one', { actions: { stateDelta: { cart } } }) });
    expect(session.state.hasDelta()).toBe(false);
    expect(await sessions.updateSession(session)).toBeUndefined();
    cart?.items.push('c');
    await sessions.updateSession(session);
    expect((await load(sessions)).state.toRecord()).toEqual({ cart: { items: ['a', 'b', 'c'] } });
  });

  test('a mutation that JSON cannot represent is refused', async ({ open }) => {
    const { sessions } = await open();
    await sessions.createSession({ ...KEY, state: { cart: { total: 1 } } });
    const session = await load(sessions);
    const cart = session.state.get<Record<string, unknown>>('cart') ?? {};
    cart.total = NaN;
    const path = '$.actions.stateDelta.cart.total';
    await expectRefusal(sessions.updateSession(session), 'INVALID_INPUT', { path });
    cart.total = 2;
    await sessions.updateSession(session);
    expect((await load(sessions)).state.toRecord()).toEqual({ cart: { total: 2 } });
  });
});
