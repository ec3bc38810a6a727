import { SessionService } from '../../src/index.js';
import { ModelServer } from '../support/model-server.js';
import { type SharedStore, describeSharedStores } from '../support/processes/shared-stores.js';
import { openDescribed } from '../support/processes/store-description.js';
import { WorkerProcess } from '../support/processes/worker-process.js';

const USER = { appName: 'shop', userId: 'ann' };
/** The killed process holds the lease of this session. */
const LOCKED = 'locked';
const FREE = ['free-1', 'free-2', 'free-3'];
const OPTIONS = { turns: 0, contentLength: 0, events: 11, keepRecentEvents: 4, concurrency: 1 };
const TURNS = 6;
/** The clock of the killed process is ahead by this: its lease outlasts the test. */
const AHEAD_MS = 60 * 60_000;
/** No session may stay locked for longer than this after its process was killed. */
const LONGEST_LEASE_MS = 10_000;

let model: ModelServer;
let survivor: WorkerProcess;

beforeAll(async () => {
  model = await ModelServer.start();
  survivor = await WorkerProcess.start();
});

afterAll(async () => {
  await survivor.stop();
  await model.stop();
});

describeSharedStores('after a process was killed that held the lease of a session on a $name store', ({ create }) => {
  let store: SharedStore;
  let sessions: SessionService;

  beforeEach(async () => {
    store = await create();
    sessions = new SessionService({ storage: await openDescribed(store.description) });
    for (const sessionId of [LOCKED, ...FREE]) await sessions.createSession({ ...USER, sessionId });
    const killed = await WorkerProcess.start();
    await killed.run('openSummarized', { ...opening(), aheadMs: AHEAD_MS, stopAt: 'before the model call' });
    const writing = killed
      .run('appendTurns', turnsOf('killed', [LOCKED]))
      .then(() => killed.run('settleSummaries', undefined));
    await expect(writing).rejects.toThrow('The worker process ended');
    await killed.stop();
  });

  afterEach(async () => {
    await survivor.run('close', undefined);
    await sessions.close();
    await store.destroy();
  });

  it('another process summarises all other sessions immediately', async () => {
    await survivor.run('openSummarized', opening());
    await survivor.run('appendTurns', turnsOf('survivor', [LOCKED, ...FREE]));
    expect(await survivor.run('settleSummaries', undefined)).toEqual({ stored: FREE.length, failed: 0 });
    expect(await summarized()).toEqual(FREE);
  });

  it('another process takes over the session when the short lease has ended', async () => {
    await survivor.run('openSummarized', { ...opening(), aheadMs: AHEAD_MS + LONGEST_LEASE_MS });
    await survivor.run('appendTurns', { ...turnsOf('survivor', [LOCKED]), turns: 1 });
    expect(await survivor.run('settleSummaries', undefined)).toEqual({ stored: 1, failed: 0 });
    expect(await summarized()).toEqual([LOCKED]);
  });

  function opening() {
    return { store: store.description, modelUrl: model.url, options: OPTIONS };
  }

  async function summarized(): Promise<string[]> {
    const found: string[] = [];
    for (const sessionId of [LOCKED, ...FREE]) {
      const session = await sessions.getSession({ ...USER, sessionId });
      if (session?.events.some(({ actions }) => actions.compaction)) found.push(sessionId);
    }
    return found;
  }
});

function turnsOf(writer: string, ids: readonly string[]) {
  return { sessions: ids.map((id) => ({ ...USER, id })), writer, turns: TURNS };
}
