import { type AfterAppend, Event, type EventInput, InMemorySessionStorage, SessionService } from '../../src/index.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'one' };

describe('what hooks and callers hold', () => {
  const event: EventInput = { author: 'user', actions: { stateDelta: { cart: { items: 1 } } } };

  it('is shared neither with the session nor with the store', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const heard: AfterAppend[] = [];
    sessions.hooks.onAfterAppend((append) => void heard.push(append));
    const session = await sessions.createSession(KEY);
    const returned = await sessions.appendEvent({ session, event });
    await sessions.whenIdle();

    Object.assign(returned.actions.stateDelta.cart as object, { items: 99 });
    Object.assign(heard[0]?.event.actions.stateDelta.cart as object, { items: 98 });
    Object.assign(heard[0]?.record ?? {}, { lastSeq: 97 });
    expect(session.state.cart).toEqual({ items: 1 });
    expect(session.events[0]?.actions.stateDelta.cart).toEqual({ items: 1 });
    expect((await sessions.getSession(KEY))?.version).toBe(1);
  });

  it('does not reach the key that is written to', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const session = await sessions.createSession(KEY);
    const victim = await sessions.createSession({ ...KEY, userId: 'victim' });
    sessions.hooks.onBeforeAppend(({ key }) => void Object.assign(key, { userId: 'victim' }));
    await sessions.appendEvent({ session, event });
    expect((await sessions.getSession({ ...KEY, userId: victim.userId }))?.version).toBe(0);
    expect((await sessions.getSession(KEY))?.version).toBe(1);
  });

  it('is checked before a hook sees it', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const session = await sessions.createSession(KEY);
    const hook = jest.fn();
    sessions.hooks.onBeforeAppend(hook);
    const nothing = JSON.parse('{}') as { event: EventInput };
    await expect(sessions.appendEvent({ session, event: nothing.event })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
    expect(hook).not.toHaveBeenCalled();
  });
});

describe('an event made twice', () => {
  it('is the same one, though each has a timestamp of its own', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const session = await sessions.createSession(KEY);
    const first = new Event({ id: 'order', author: 'user' });
    const second = new Event({ id: 'order', author: 'user' });
    second.timestamp = first.timestamp + 1;
    await sessions.appendEvent({ session, event: first });
    const again = new Event({ id: 'order', author: 'user' });
    expect((await sessions.append({ session, event: again })).duplicate).toBe(true);
    // A timestamp that somebody chose is part of what was said.
    await expect(sessions.append({ session, event: second })).rejects.toMatchObject({ code: 'EVENT_CONFLICT' });
  });

  it('is the same one in whatever order its removals stand', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const session = await sessions.createSession({ ...KEY, state: { a: 1, b: 1 } });
    await sessions.append({ session, event: { id: 'e', actions: { stateRemovals: ['a', 'b'] } } });
    const again = { id: 'e', actions: { stateRemovals: ['b', 'a'] } };
    expect((await sessions.append({ session, event: again })).duplicate).toBe(true);
  });
});
