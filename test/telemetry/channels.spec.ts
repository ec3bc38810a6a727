import { tracingChannel } from 'node:diagnostics_channel';
import { AgentSessions } from '../../src/agents/index.js';
import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { TRACED_OPERATIONS, type TracedOperation, measureOperations } from '../../src/telemetry/index.js';
import { methodsOf } from '../support/methods-of.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'cart' };
const USER = { appName: 'shop', userId: 'ann' };

/** Has what each method asks for. */
const ANY_REQUEST = {
  ...KEY,
  session: { ...USER, id: 'cart' },
  event: { author: 'user' },
  events: [{ author: 'user' }],
  name: 'mail',
  handler: () => undefined,
};

/** The methods of the service that have no channel, and why. */
const UNTRACED = {
  watch: 'lives as long as its reader wants',
  whenIdle: 'only waits for operations',
  finish: 'ends the service',
  close: 'ends the service',
} satisfies Partial<Record<keyof SessionService, string>>;

describe('the channels of operations', () => {
  let sessions: SessionService;
  let heard: TracedOperation[];
  let stop: () => void;

  beforeEach(() => {
    sessions = new SessionService({ storage: new InMemorySessionStorage() });
    heard = [];
    stop = measureOperations((operation) => void heard.push(operation));
  });

  afterEach(async () => {
    stop();
    await sessions.close();
  });

  it.each(TRACED_OPERATIONS)('have the name agent-sessions:%s for all who know only Node', (name) => {
    expect(tracingChannel(`agent-sessions:${name}`).hasSubscribers).toBe(true);
    stop();
    expect(tracingChannel(`agent-sessions:${name}`).hasSubscribers).toBe(false);
  });

  it('are told each method of the service', async () => {
    const session = await sessions.createSession(KEY);
    const methods = methodsOf(SessionService).filter((name) => !(name in UNTRACED));
    const told: string[] = [];
    for (const method of methods) {
      heard.length = 0;
      const call = Reflect.get(sessions, method) as (...args: readonly unknown[]) => Promise<unknown>;
      const args = method === 'updateSession' ? [session] : [ANY_REQUEST, () => undefined];
      // Also what fails is told.
      await call.apply(sessions, args).catch(() => undefined);
      // It needs `run` or `traced`, with a name of its own in `TRACED_OPERATIONS`; or a reason in `UNTRACED`.
      expect([method, heard.length]).toEqual([method, 1]);
      told.push(...heard.map(({ operation }) => operation));
    }
    const others = new Set(['run', 'summary', 'searchEvents']);
    expect(new Set(told)).toEqual(new Set(TRACED_OPERATIONS.filter((name) => !others.has(name))));
  });

  it('are told ids, counts and codes', async () => {
    const session = await sessions.createSession(KEY);
    await sessions.appendEvents({ session, events: [{ author: 'user' }, { author: 'agent', partial: true }] });
    await sessions.forkSession({ ...KEY, newSessionId: 'copy' });
    await sessions.forkSession({ ...KEY, newSessionId: 'copy' }).catch(() => undefined);
    const ids = { ...KEY, error: undefined, result: undefined };
    expect(heard.map((told) => ({ ...told, error: undefined, result: undefined }))).toEqual([
      { operation: 'create', ...ids },
      { operation: 'append', ...ids, storedEvents: 1 },
      { operation: 'fork', ...ids, sessionId: 'copy', sourceSessionId: 'cart' },
      { operation: 'fork', ...ids, sessionId: 'copy', sourceSessionId: 'cart', errorCode: 'SESSION_EXISTS' },
    ]);
  });

  it('are told the runs of agents, also the failed ones', async () => {
    const agents = new AgentSessions({ sessions, onRunFailure: () => undefined });
    const request = { ...KEY, newMessage: 'Hello', agentName: 'helper', invocationId: 'i-1' };
    const run = agents.run(request, async function* () {
      yield* [];
      throw new Error('The model is down');
    });
    await expect(run.result).rejects.toThrow();
    await agents.close();
    const of = { agentName: 'helper', invocationId: 'i-1', errorCode: 'AGENT_FAILED' };
    expect(heard.find(({ operation }) => operation === 'run')).toMatchObject({ ...KEY, ...of });
  });
});
