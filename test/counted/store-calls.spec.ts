import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import type { SessionStorage } from '../../src/storage.js';

const OWNER = { appName: 'shop', userId: 'ann' };
const KEY = { ...OWNER, sessionId: 's' };
const SMALL = { author: 'user', content: { parts: [{ text: 'Hello' }] } };

describe('the calls of the store', () => {
  let calls: string[];
  let sessions: SessionService;

  beforeEach(() => {
    calls = [];
    const storage = new Proxy<SessionStorage>(new InMemorySessionStorage(), {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]): unknown => {
          calls.push(String(name));
          return Reflect.apply(value, target, given);
        };
      },
    });
    sessions = new SessionService({ storage });
  });

  afterEach(() => sessions.close());

  it('are one for a view of 1,000 small events, its newest 20, or a page of them', async () => {
    await sessions.createSession(KEY);
    for (let batch = 0; batch < 10; batch++) {
      const events = Array.from({ length: 100 }, () => SMALL);
      await sessions.appendEvents({ session: { ...OWNER, id: KEY.sessionId }, events });
    }
    await sessions.whenIdle();
    calls.length = 0;
    expect((await sessions.getSession(KEY))?.events).toHaveLength(1_000);
    expect(calls.splice(0)).toEqual(['read']);
    expect((await sessions.getSession({ ...KEY, config: { numRecentEvents: 20 } }))?.events).toHaveLength(20);
    expect(calls.splice(0)).toEqual(['read']);
    expect((await sessions.listEvents({ ...KEY, limit: 1_000 })).events).toHaveLength(1_000);
    expect(calls.splice(0)).toEqual(['read']);
  });

  it('are one for a list of 1,000 sessions', async () => {
    for (let number = 0; number < 1_001; number++) await sessions.createSession({ ...OWNER, state: { step: number } });
    calls.length = 0;
    const page = await sessions.listSessions({ ...OWNER, limit: 1_000 });
    expect(page.sessions).toHaveLength(1_000);
    expect(page.nextCursor).toBeDefined();
    expect(calls).toEqual(['list']);
  });
});
