import { SessionService } from '../../src/index.js';
import { AgentSessions } from '../../src/agents/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { HeldHandler, echo, inShort } from '../agents/support/handlers.js';
import { RUN_PHASES, type RunPhase, type RunsTask, refunding } from '../support/processes/agent-process.js';
import { type SharedStore, describeSharedStores } from '../support/processes/shared-stores.js';
import { openDescribed } from '../support/processes/store-description.js';
import { savedPieces } from '../support/saved-pieces.js';
import { WorkerProcess, WorkerProcesses } from '../support/processes/worker-process.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };

function requestOf(sessionId: string) {
  return { ...KEY, sessionId, newMessage: 'hi', invocationId: 'i-1' };
}

/** The clock of the process that dies is behind, so that its turn is over for the others. */
const BEHIND_MS = 60 * 60_000;

const CALLED = ['user hi', 'agent ?c1'];
const ANSWERED = [...CALLED, 'agent !c1'];
const WHOLE = [...ANSWERED, 'agent It is sunny'];

/** What the next turn makes of the log. */
const REPAIRED: Readonly<Record<RunPhase, readonly string[]>> = {
  'before the message': [],
  'after the message': ['user hi', 'agent - DIED'],
  'between call and response': [...CALLED, 'agent !c1', 'agent - DIED'],
  'in mid-stream': [...ANSWERED, 'agent It is - DIED'],
  'before the final event': [...ANSWERED, 'agent It isIt is - DIED'],
  'before the end of the turn': WHOLE,
};

/** What a repeated request makes of the log. */
const RESUMED: Readonly<Record<RunPhase, readonly string[]>> = {
  'before the message': ['user hi', 'agent echo: hi'],
  'after the message': ['user hi', 'agent echo: hi'],
  'between call and response': [...CALLED, 'agent !c1', 'agent echo: hi'],
  'in mid-stream': [...ANSWERED, 'agent discarded', 'agent echo: hi'],
  'before the final event': [...ANSWERED, 'agent discarded', 'agent echo: hi'],
  'before the end of the turn': WHOLE,
};

describeSharedStores('runs of several processes on a $name store', ({ create }) => {
  let store: SharedStore;
  let storage: SessionStorage;
  let sessions: SessionService;
  let agents: AgentSessions;

  beforeEach(async () => {
    store = await create();
    storage = await openDescribed(store.description);
    sessions = new SessionService({ storage, watchPollMs: 50 });
    agents = new AgentSessions({ sessions, pollMs: 50, graceMs: 300 });
    await sessions.createSession(KEY);
  });

  afterEach(async () => {
    await agents.close();
    await sessions.close();
    await store.destroy();
  });

  const log = async (sessionId = KEY.sessionId) =>
    inShort((await sessions.listEvents({ ...KEY, sessionId, limit: 1_000 })).events);

  /** Runs of a process with an earlier clock, which are in their phases when it meets the signal. */
  async function processIn(runs: RunsTask['runs'], signal: RunsTask['signal']) {
    const worker = await WorkerProcess.start();
    await worker.run('open', { store: store.description, now: Date.now() - BEHIND_MS });
    let running: Promise<unknown> = Promise.resolve();
    await new Promise<void>((resolve, reject) => {
      running = worker.run('runAgents', { runs, signal }, { onProgress: () => resolve() });
      running.catch(reject);
    });
    return { worker, running };
  }

  it('the log is whole, and nothing is doubled, after a kill in any phase', async () => {
    const names = ['next', 'again'].flatMap((kind) => RUN_PHASES.map((phase) => ({ phase, id: `${kind} ${phase}` })));
    for (const { id } of names) await sessions.createSession({ ...KEY, sessionId: id });
    const { running } = await processIn(
      names.map(({ phase, id }) => ({ request: requestOf(id), phase })),
      'SIGKILL',
    );
    await expect(running).rejects.toThrow('ended');
    // Another process shows what was said.
    const watch = sessions.watch({ ...KEY, sessionId: 'next in mid-stream', afterSeq: 3, partials: true });
    const { value: said } = await watch.next();
    expect(said).toMatchObject({ seq: 3, partial: true, offset: 0, content: { parts: [{ text: 'It is' }] } });
    await watch.return?.();

    const next: Record<string, readonly string[]> = {};
    const again: Record<string, readonly string[]> = {};
    for (const phase of RUN_PHASES) {
      await agents.run({ ...KEY, sessionId: `next ${phase}`, newMessage: 'next' }, echo).result;
      next[phase] = await log(`next ${phase}`);
      await agents.run(requestOf(`again ${phase}`), echo).result;
      again[phase] = await log(`again ${phase}`);
    }
    const following = ['user next', 'agent echo: next'];
    expect(next).toEqual(Object.fromEntries(RUN_PHASES.map((phase) => [phase, [...REPAIRED[phase], ...following]])));
    expect(again).toEqual(RESUMED);
  });

  it('a process that was stopped past its turn writes nothing when it continues', async () => {
    const run = { request: requestOf(KEY.sessionId), phase: 'in mid-stream' } as const;
    const { worker, running } = await processIn([run], 'SIGSTOP');
    try {
      await agents.run({ ...KEY, newMessage: 'next' }, echo).result;
      const before = await log();
      expect(before).toEqual([...REPAIRED['in mid-stream'], 'user next', 'agent echo: next']);
      worker.resume();
      expect(await running).toEqual([{ code: 'TURN_LOST' }]);
      expect(await log()).toEqual(before);
      expect(await savedPieces(storage, KEY)).toEqual([]);
    } finally {
      await worker.kill();
    }
  });

  it('messages and approvals of several processes get their answers, one after the other and once', async () => {
    const workers = await WorkerProcesses.start(2);
    try {
      await workers.run('open', () => ({ store: store.description }));
      const outcomes = await workers.run('runAgents', (index) => ({
        runs: ['a', 'b'].map((name) => ({ request: { ...KEY, newMessage: name + index, policy: 'enqueue' } })),
      }));
      expect(outcomes.flat().map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'completed'));
      const said = (await log()).filter((event) => event !== 'system queued');
      const messages = said.filter((event) => event.startsWith('user'));
      expect(said).toEqual(messages.flatMap((message) => [message, ...WHOLE.slice(1)]));
      expect(messages.toSorted()).toEqual(['user a0', 'user a1', 'user b0', 'user b1']);

      // An approval is answered in processes that did not ask, by all of them at once.
      const asked = agents.run({ ...KEY, newMessage: 'refund', invocationId: 'i-r' }, refunding);
      expect(await asked.result).toMatchObject({ status: 'waiting' });
      const { version } = (await sessions.getSession(KEY)) ?? {};
      const request = { ...KEY, approvalId: 'c1@i-r', answer: { confirmed: true } };
      const answered = await workers.run('answerApproval', () => ({ request, times: 2 }));
      expect(answered.flat()).toEqual(Array.from({ length: 4 }, () => ({ status: 'completed' })));
      const { events } = await sessions.listEvents({ ...KEY, afterSeq: version });
      expect(inShort(events)).toEqual(['user !c1@i-r', 'agent !c1', 'agent Refunded']);
      expect(await sessions.getUserState(KEY)).toEqual({ refunds: 1 });

      const held = new HeldHandler();
      const interrupted = agents.run({ ...KEY, newMessage: 'held' }, held.handler);
      await held.started;
      const [first] = workers.all;
      const now = { request: { ...KEY, newMessage: 'now', policy: 'interrupt' as const } };
      const interrupting = first?.run('runAgents', { runs: [now] });
      expect(await interrupted.result).toMatchObject({ status: 'interrupted' });
      expect(await interrupting).toEqual([{ status: 'completed' }]);
    } finally {
      await workers.stop();
    }
  });
});
