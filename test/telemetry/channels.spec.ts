import { tracingChannel } from 'node:diagnostics_channel';
import { AgentSessions } from '../../src/agents/index.js';
import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { TRACED_OPERATIONS, type TracedOperation, measureOperations } from '../../src/telemetry/index.js';
import { methodsOf } from '../support/methods-of.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'cart' };
const USER = { appName: 'shop', userId: 'ann' };

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
    const calls = {
      createSession: (): unknown => sessions.createSession(KEY),
      getSession: () => sessions.getSession(KEY),
      getOrCreateSession: () => sessions.getOrCreateSession(KEY),
      listApps: () => sessions.listApps(),
      listSessions: () => sessions.listSessions(USER),
      listEvents: () => sessions.listEvents(KEY),
      stateAt: () => sessions.stateAt({ ...KEY, seq: 0 }),
      explainView: () => sessions.explainView(KEY),
      getModelRequest: () => sessions.getModelRequest({ ...KEY, seq: 1 }).catch(() => undefined),
      stateChanges: () => sessions.stateChanges(KEY),
      consume: async () => (await sessions.consume({ name: 'mail', handler: () => undefined })).stop(),
      appendEvent: () => sessions.appendEvent({ session: { ...USER, id: 'cart' }, event: { author: 'user' } }),
      append: () => sessions.append({ session: { ...USER, id: 'cart' }, event: { author: 'user' } }),
      appendEvents: () => sessions.appendEvents({ session: { ...USER, id: 'cart' }, events: [{ author: 'user' }] }),
      appendBatch: () => sessions.appendBatch({ session: { ...USER, id: 'cart' }, events: [{ author: 'user' }] }),
      updateSession: async () => {
        const session = await sessions.createSession(USER);
        heard.length = 0;
        await sessions.updateSession(session);
      },
      change: () => sessions.change(KEY, () => undefined),
      beginTurn: () => sessions.beginTurn(KEY),
      renewTurn: () => sessions.renewTurn({ ...KEY, token: 'none' }),
      endTurn: () => sessions.endTurn({ ...KEY, token: 'none' }),
      getTurn: () => sessions.getTurn(KEY),
      withTurn: () => sessions.withTurn(KEY, () => undefined),
      rewindSession: () => sessions.rewindSession({ ...KEY, toSeq: 0 }),
      redactEvent: () => sessions.redactEvent({ ...KEY, seq: 1, reason: 'why' }).catch(() => undefined),
      forkSession: () => sessions.forkSession(KEY),
      getUserState: () => sessions.getUserState(USER),
      updateUserState: () => sessions.updateUserState({ ...USER, stateDelta: { step: 1 } }),
      getAppState: () => sessions.getAppState(USER),
      updateAppState: () => sessions.updateAppState({ ...USER, stateDelta: { step: 1 } }),
      getUsage: () => sessions.getUsage(USER),
      checkBudget: () => sessions.checkBudget(KEY),
      deleteSession: () => sessions.deleteSession(KEY),
      eraseUser: () => sessions.eraseUser(USER),
      purgeExpired: () => sessions.purgeExpired(),
    };
    const forgotten = methodsOf(SessionService).filter((name) => !(name in calls) && !(name in UNTRACED));
    const advice = 'add it to `calls` here, or to `UNTRACED` with a reason';
    expect(forgotten.map((name) => `${name}: ${advice}`)).toEqual([]);
    const told: string[] = [];
    for (const [method, call] of Object.entries(calls)) {
      heard.length = 0;
      await Promise.resolve(call()).catch(() => undefined);
      // It needs `run` or `traced`, with a name of its own in `TRACED_OPERATIONS`.
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
