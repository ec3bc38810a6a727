import { inspect } from 'node:util';
import { InMemorySessionStorage, type Session, SessionService } from '../../src/index.js';
import { toSessionView } from '../../src/sessions/domain/session/session.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'one' };

describe('a session object', () => {
  let session: Session;

  beforeEach(async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    session = await sessions.createSession(KEY);
    await sessions.appendEvent({ session, event: { author: 'user', id: 'e-1' } });
  });

  it.each([
    ['a proxy', (of: Session) => new Proxy(of, {})],
    ['an object that inherits from it', (of: Session) => Object.create(of) as Session],
  ])('has its events through %s', (_name, wrap) => {
    const wrapped = wrap(session);
    expect(wrapped.events.map(({ id }) => id)).toEqual(['e-1']);
    expect(wrapped.events).toBe(session.events);
    wrapped.events = [];
    expect(session.events).toEqual([]);
  });

  it('shows its events, and not how it holds them', () => {
    expect(Object.keys(session)).toContain('events');
    expect(Reflect.ownKeys({ ...session }).filter((name) => typeof name === 'symbol')).toEqual([]);
    expect(inspect(session)).not.toContain('Symbol');
  });

  it('has a view with each of its properties, whether or not somebody has looked at its state', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const made = await sessions.createSession({ ...KEY, turnsOnly: true, state: { step: 1, inner: { a: 1 } } });
    made.eventsTruncated = true;
    made.unreadable = 'ENCRYPTION_KEY_WRONG';
    const view = toSessionView(made);
    expect(Object.keys(view).toSorted()).toEqual(Object.keys(made).toSorted());
    expect(view).toEqual({ ...made, state: { step: 1, inner: { a: 1 } } });

    view.state.step = 'of the view';
    made.state.step = 2;
    expect(made.state.toJSON()).toEqual({ step: 2, inner: { a: 1 } });
    expect(toSessionView(made).state).toEqual({ step: 2, inner: { a: 1 } });
  });
});
