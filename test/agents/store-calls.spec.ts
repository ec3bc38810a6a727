import { InMemorySessionStorage } from '../../src/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { until } from '../support/until.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { HeldHandler, call, echo, response, text } from './support/handlers.js';

const POLL_MS = 20;

/** Not a poll of the watches, which comes when a run takes longer on a busy machine. */
const isOfRun = (name: string): boolean => name !== 'tails';

/** A storage that notes its calls. */
function observed(storage: SessionStorage, note: (call: string) => void): SessionStorage {
  return new Proxy(storage, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: readonly [{ action?: string; endsTurn?: boolean }?]) => {
        const [{ action, endsTurn } = {}] = args;
        note([String(name), action, endsTurn && 'and end'].filter(Boolean).join(' '));
        return value.apply(target, args) as unknown;
      };
    },
  });
}

describe('the calls of the store in a run', () => {
  const calls: string[] = [];
  let onCall: (call: string) => void;
  let app: AgentApp;

  beforeEach(() => {
    onCall = () => undefined;
    const note = (name: string): void => {
      calls.push(name);
      onCall(name);
    };
    app = new AgentApp(observed(new InMemorySessionStorage(), note), { pollMs: POLL_MS });
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
    expect(calls.filter(isOfRun)).toEqual(['turn begin', 'read', 'append', 'append', 'append', 'append', 'turn end']);
  });

  it('are one less if the last event is returned', async () => {
    await app.sessions.createSession(KEY);
    calls.length = 0;
    await app.agents.run({ ...KEY, newMessage: 'hi' }, async function* () {
      yield* [];
      return text('done');
    }).result;
    expect(calls.filter(isOfRun)).toEqual(['turn begin', 'read', 'append', 'append and end']);
  });

  it('become rarer while a message waits for its turn', async () => {
    await app.sessions.createSession(KEY);
    const held = new HeldHandler();
    const running = app.agents.run({ ...KEY, newMessage: 'first' }, held.handler);
    await held.started;
    calls.length = 0;
    const begins: number[] = [];
    onCall = (name) => {
      if (name === 'turn begin') begins.push(performance.now());
    };
    const waiting = app.agents.run({ ...KEY, newMessage: 'second', policy: 'enqueue' }, echo);
    await until(() => begins.length === 9);
    // The first one of all, and the one after the message is in the queue. A timer may be late, but not early.
    const pauses = begins.slice(2).map((time, index) => time - (begins[index + 1] ?? 0));
    for (const [index, pause] of pauses.entries()) expect(pause).toBeGreaterThan(Math.min(index + 1, 5) * POLL_MS - 2);
    held.release();
    await Promise.all([running.result, waiting.result]);
    expect(calls.filter((name) => name === 'read').length).toBeLessThan(15);
  });

  it('need no read for a new session', async () => {
    await app.agents.run({ appName: 'shop', userId: 'ann', newMessage: 'hi' }, echo).result;
    expect(calls.filter(isOfRun)).toEqual(['create', 'turn begin', 'append', 'append', 'turn end']);
    calls.length = 0;
    await app.agents.run({ ...KEY, newMessage: 'hi' }, echo).result;
    expect(calls.filter(isOfRun)).toEqual(['turn begin', 'create', 'turn begin', 'append', 'append', 'turn end']);
  });
});
