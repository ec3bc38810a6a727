import { InMemorySessionStorage, SessionService } from '../../src/index.js';

const USER = { appName: 'shop', userId: 'ann' };
const KEY = { ...USER, sessionId: 's' };
const SESSION = { ...USER, id: 's' };
const ANSWER = { author: 'agent', modelRequest: { given: [], instructions: 'Sell the blue chair first.' } };

/** Two services on one store. What is given runs between what the second one does before it deletes or erases, and that. */
function twoServices(meanwhile: (first: SessionService) => Promise<unknown>): {
  readonly first: SessionService;
  readonly second: SessionService;
  readonly storage: InMemorySessionStorage;
} {
  const storage = new InMemorySessionStorage();
  const first = new SessionService({ storage });
  const late = <Part extends object>(part: Part, name: string): Part =>
    new Proxy(part, {
      get(target, property) {
        const value: unknown = Reflect.get(target, property, target);
        if (property === 'transfer') return late(value as object, 'eraseUser');
        if (typeof value !== 'function') return value;
        return async (...given: unknown[]): Promise<unknown> => {
          if (property === name) await meanwhile(first);
          return Reflect.apply(value, target, given) as unknown;
        };
      },
    });
  return { first, second: new SessionService({ storage: late(storage, 'delete') }), storage };
}

function answer(sessions: SessionService): Promise<unknown> {
  return sessions.appendEvent({ session: SESSION, event: ANSWER });
}

describe('instructions of a session', () => {
  it.each([
    ['deleted', (sessions: SessionService): Promise<unknown> => sessions.deleteSession(KEY)],
    ['erased', (sessions: SessionService): Promise<unknown> => sessions.eraseUser(USER)],
  ])('do not stay if another process writes them while it is %s', async (_how, remove) => {
    const { first, second, storage } = twoServices(answer);
    await first.createSession(KEY);
    await remove(second);
    expect(await first.getSession(KEY)).toBeUndefined();
    expect(await storage.components.sessions({ limit: 10 })).toEqual([]);
    await Promise.all([first.close(), second.close()]);
  });

  it('stay with one that is not deleted, since it changed', async () => {
    const { first, second } = twoServices((service) =>
      service.appendEvent({ session: SESSION, event: { author: 'user', content: { parts: [{ text: 'Wait' }] } } }),
    );
    await first.createSession(KEY);
    await answer(first);
    const loaded = await second.getSession(KEY);
    await second.deleteSession({ ...KEY, loaded, ifUnchanged: true });
    expect((await first.getModelRequest({ ...KEY, seq: 1 }))?.instructions?.isKept).toBe(true);
    await Promise.all([first.close(), second.close()]);
  });
});
