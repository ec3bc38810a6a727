import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import type { SessionStorage } from '../../src/storage.js';

const OWNER = { appName: 'shop', userId: 'ann' };
const KEY = { ...OWNER, sessionId: 's' };
const SESSION = { ...OWNER, id: 's' };
const TOOLS = [{ name: 'search' }];

/** Calls of the store and of what it keeps beside the log, such as `append` and `components.write`. */
function counted(storage: SessionStorage, calls: string[]): SessionStorage {
  const proxy = <Part extends object>(part: Part, prefix: string): Part =>
    new Proxy(part, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (name === 'components') return proxy(value as object, 'components.');
        if (typeof value !== 'function') return value;
        return (...given: unknown[]): unknown => {
          calls.push(prefix + String(name));
          return Reflect.apply(value, target, given);
        };
      },
    });
  return proxy(storage, '');
}

describe('the texts of model requests', () => {
  let calls: string[];
  let now: number;
  let sessions: SessionService;

  beforeEach(() => {
    calls = [];
    now = 1_767_225_600_000;
    const clock = { now: () => now };
    const storage = counted(new InMemorySessionStorage({ clock }), calls);
    sessions = new SessionService({ storage, clock, ttl: { enabled: true, sessionSeconds: 1_000 } });
  });

  afterEach(() => sessions.close());

  async function answer(instructions: string, sessionId = 's'): Promise<string[]> {
    calls.length = 0;
    const modelRequest = { given: [], instructions, tools: TOOLS };
    await sessions.appendEvent({ session: { ...SESSION, id: sessionId }, event: { author: 'agent', modelRequest } });
    return [...calls];
  }

  it('are written once: a prompt that is repeated costs nothing', async () => {
    await sessions.createSession(KEY);
    expect(await answer('Be brief.')).toEqual(['components.write', 'components.write', 'append']);
    for (let number = 0; number < 50; number++) expect(await answer('Be brief.')).toEqual(['append']);
    expect(await answer('Be long.')).toEqual(['components.write', 'append']);
    expect(await answer('Be brief.')).toEqual(['append']);
  });

  it('are renewed once a tenth of the life of the session has passed', async () => {
    await sessions.createSession(KEY);
    await answer('Be brief.');
    now += 99_000;
    expect(await answer('Be brief.')).toEqual(['append']);
    now += 1_000;
    expect(await answer('Be brief.')).toContain('components.write');
    expect(await answer('Be brief.')).toEqual(['append']);
  });

  it('are written again for another session, and for a later one of the same id', async () => {
    await sessions.createSession(KEY);
    await sessions.createSession({ ...KEY, sessionId: 't' });
    await answer('Be brief.');
    expect(await answer('Be brief.', 't')).toEqual(['components.write', 'components.write', 'append']);
    await sessions.deleteSession(KEY);
    await sessions.createSession(KEY);
    expect(await answer('Be brief.')).toEqual(['append', 'components.write', 'components.write']);
    expect((await sessions.getModelRequest({ ...KEY, seq: 1 }))?.instructions?.value).toBe('Be brief.');
  });

  it('leave nothing of a session that is gone', async () => {
    await expect(answer('Be brief.')).rejects.toThrow('not found');
    expect(calls.slice(-2)).toEqual(['read', 'components.remove']);
    await sessions.createSession(KEY);
    await answer('Be brief.');
    expect((await sessions.getModelRequest({ ...KEY, seq: 1 }))?.instructions?.value).toBe('Be brief.');
  });
});
