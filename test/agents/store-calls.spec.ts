import { InMemorySessionStorage } from '../../src/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { call, echo, response, text } from './support/handlers.js';

/** A storage that notes its calls. */
function observed(storage: SessionStorage, calls: string[]): SessionStorage {
  return new Proxy(storage, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: readonly [{ action?: string; endsTurn?: boolean }?]) => {
        const [{ action, endsTurn } = {}] = args;
        calls.push([String(name), action, endsTurn && 'and end'].filter(Boolean).join(' '));
        return value.apply(target, args) as unknown;
      };
    },
  });
}

describe('the calls of the store in a run', () => {
  const calls: string[] = [];
  let app: AgentApp;

  beforeEach(() => {
    app = new AgentApp(observed(new InMemorySessionStorage(), calls));
    calls.length = 0;
  });

  afterEach(() => app.close());

  it('are the turn, a read, and one for each event', async () => {
    await app.sessions.createSession(KEY);
    calls.length = 0;
    await app.agents.run({ ...KEY, newMessage: 'hi' }, async function* () {
      yield call('c1');
      yield response('c1');
      yield text('done');
    }).result;
    expect(calls).toEqual(['turn begin', 'read', 'append', 'append', 'append', 'append', 'turn end']);
  });

  it('are one less if the last event is returned', async () => {
    await app.sessions.createSession(KEY);
    calls.length = 0;
    await app.agents.run({ ...KEY, newMessage: 'hi' }, async function* () {
      yield* [];
      return text('done');
    }).result;
    expect(calls).toEqual(['turn begin', 'read', 'append', 'append and end']);
  });

  it('need no read for a new session', async () => {
    await app.agents.run({ appName: 'shop', userId: 'ann', newMessage: 'hi' }, echo).result;
    expect(calls).toEqual(['create', 'turn begin', 'append', 'append', 'turn end']);
    calls.length = 0;
    await app.agents.run({ ...KEY, newMessage: 'hi' }, echo).result;
    expect(calls).toEqual(['turn begin', 'create', 'turn begin', 'append', 'append', 'turn end']);
  });
});
