import {
  type AfterAppend,
  Event,
  type EventInput,
  InMemorySessionStorage,
  type Session,
  SessionService,
} from '../../src/index.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'one' };

const EVENT: EventInput = { author: 'user', actions: { stateDelta: { cart: { items: 1 } } } };

describe('events passed to hooks and callers', () => {
  it('share no objects with the session or the store', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const received: AfterAppend[] = [];
    sessions.hooks.onAfterAppend((append) => void received.push(append));
    const session = await sessions.createSession(KEY);
    const returned = await sessions.appendEvent({ session, event: EVENT });
    await sessions.whenIdle();

    Object.assign(returned.actions.stateDelta.cart as object, { items: 99 });
    Object.assign(received[0]?.event.actions.stateDelta.cart as object, { items: 98 });
    Object.assign(received[0]?.record ?? {}, { lastSeq: 97 });
    expect(session.state.cart).toEqual({ items: 1 });
    expect(session.events[0]?.actions.stateDelta.cart).toEqual({ items: 1 });
    expect((await sessions.getSession(KEY))?.version).toBe(1);
  });

  it('do not let a hook change the session key of the write', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const session = await sessions.createSession(KEY);
    const victim = await sessions.createSession({ ...KEY, userId: 'victim' });
    sessions.hooks.onBeforeAppend(({ key }) => void Object.assign(key, { userId: 'victim' }));
    await sessions.appendEvent({ session, event: EVENT });
    expect((await sessions.getSession({ ...KEY, userId: victim.userId }))?.version).toBe(0);
    expect((await sessions.getSession(KEY))?.version).toBe(1);
  });

  it('are validated before a hook receives them', async () => {
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

/** Valid JSON on the first read, and invalid from the second read on. */
function unstableValue(): object {
  let reads = 0;
  return {
    get reads() {
      return ++reads > 1 ? NaN : reads;
    },
  };
}

describe('values with getters', () => {
  it('are read once, so that the validated value is the stored one', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const session = await sessions.createSession(KEY);
    const stored = await sessions.appendEvent({
      session,
      event: {
        author: 'user',
        customMetadata: { value: unstableValue() },
        actions: { stateDelta: { value: unstableValue() } },
      },
    });
    expect(stored).toMatchObject({
      customMetadata: { value: { reads: 1 } },
      actions: { stateDelta: { value: { reads: 1 } } },
    });
  });
});

describe('an event that is appended twice', () => {
  it('is a duplicate although the generated timestamps differ', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const session = await sessions.createSession(KEY);
    const first = new Event({ id: 'order', author: 'user' });
    const second = new Event({ id: 'order', author: 'user' });
    second.timestamp += 1;
    await sessions.appendEvent({ session, event: first });
    const again = new Event({ id: 'order', author: 'user' });
    expect((await sessions.append({ session, event: again })).duplicate).toBe(true);
    // A timestamp that the caller sets is part of the content.
    await expect(sessions.append({ session, event: second })).rejects.toMatchObject({ code: 'EVENT_CONFLICT' });
  });

  it('is a duplicate although its removals are in a different order', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const session = await sessions.createSession({ ...KEY, state: { a: 1, b: 1 } });
    await sessions.append({ session, event: { author: 'user', id: 'e', actions: { stateRemovals: ['a', 'b'] } } });
    const again = { id: 'e', author: 'user', actions: { stateRemovals: ['b', 'a'] } };
    expect((await sessions.append({ session, event: again })).duplicate).toBe(true);
  });

  it('is a duplicate although a hook copied both', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const session = await sessions.createSession(KEY);
    sessions.hooks.onBeforeAppend(({ event }) => ({ ...event, branch: 'copied' }));
    for (const now of [1e12, 2e12]) {
      const clock = jest.spyOn(Date, 'now').mockReturnValue(now);
      const made = new Event({ id: 'order', author: 'user' });
      clock.mockRestore();
      expect(await sessions.append({ session, event: made })).toMatchObject({ duplicate: now === 2e12 });
    }
  });
});

describe('a hook that changes a rewind', () => {
  it.each([
    ['removes it', {}],
    ['changes its target', { rewind: { toSeq: 0 } }],
  ])('is refused before anything is written: it %s', async (_title, actions) => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const session = await sessions.createSession(KEY);
    for (const k of [1, 2])
      await sessions.appendEvent({ session, event: { author: 'user', actions: { stateDelta: { k } } } });
    sessions.hooks.onBeforeAppend(({ event }) => ({ ...event, actions }));
    const refused = { code: 'INVALID_INPUT', path: '$.actions.rewind' };
    await expect(sessions.rewindSession({ ...KEY, toSeq: 1 })).rejects.toMatchObject(refused);
    expect(await sessions.getSession(KEY)).toMatchObject({ version: 2, events: [{ seq: 1 }, { seq: 2 }] });
  });
});

describe('a session object that the caller has damaged', () => {
  const damages: [string, string, (session: Session) => unknown][] = [
    ['is frozen', 'session', (session) => Object.freeze(session)],
    ['has frozen events', 'session', ({ events }) => Object.freeze(events)],
    ['has no events', 'session.events', (session) => Object.assign(session, { events: null })],
    ['has a replaced state', 'session.state', (session) => Object.assign(session, { state: { step: 2 } })],
  ];

  it.each(damages)('is refused before anything is written: it %s', async (_title, path, damage) => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const session = await sessions.createSession(KEY);
    session.state.step = 1;
    damage(session);
    const refused = { code: 'INVALID_INPUT', path };
    await expect(sessions.appendEvent({ session, event: EVENT })).rejects.toMatchObject(refused);
    await expect(sessions.updateSession(session)).rejects.toMatchObject(refused);
    expect((await sessions.getSession(KEY))?.version).toBe(0);
  });

  it('does not fail an append that is already stored', async () => {
    const failures: unknown[] = [];
    const onBackgroundError = (error: unknown): unknown => failures.push(error);
    const sessions = new SessionService({ storage: new InMemorySessionStorage(), onBackgroundError });
    const session = await sessions.createSession(KEY);
    (session.events as unknown[]).push(undefined);
    expect(await sessions.appendEvent({ session, event: EVENT })).toMatchObject({ seq: 1 });
    await sessions.whenIdle();
    expect(failures).toHaveLength(1);
  });
});
