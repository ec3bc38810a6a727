import { SessionService } from '../../src/index.js';
import { ModelServer } from '../support/model-server.js';
import { type SharedStore, describeSharedStores } from '../support/processes/shared-stores.js';
import { openDescribed } from '../support/processes/store-description.js';
import { expectConsistentSummaries } from '../support/processes/summarized-log.js';
import { WorkerProcesses } from '../support/processes/worker-process.js';
import { until } from '../support/until.js';

const PROCESSES = 4;
const TURNS_EACH = 10;
const USER = { appName: 'shop', userId: 'ann' };
const OPTIONS = { turns: 0, contentLength: 0, events: 12, keepRecentEvents: 4 };

let workers: WorkerProcesses;
let model: ModelServer;

beforeAll(async () => {
  model = await ModelServer.start({ thinkMs: 3 });
  workers = await WorkerProcesses.start(PROCESSES);
});

afterAll(async () => {
  await workers.stop();
  await model.stop();
});

describeSharedStores('processes that summarise the sessions of one $name store', ({ create }) => {
  let store: SharedStore;
  let sessions: SessionService;

  beforeEach(async () => {
    store = await create();
    sessions = new SessionService({ storage: await openDescribed(store.description) });
    await workers.run('openSummarized', () => ({ store: store.description, modelUrl: model.url, options: OPTIONS }));
  });

  afterEach(async () => {
    await workers.run('close', () => undefined);
    await sessions.close();
    await store.destroy();
  });

  async function viewLength(sessionId: string): Promise<number> {
    return (await sessions.getSession({ ...USER, sessionId }))?.events.length ?? 0;
  }

  /** Every process appends to all sessions, until their summaries are written. */
  async function appendEverywhere(ids: readonly string[]): Promise<{ stored: number; failed: number; calls: number }> {
    for (const sessionId of ids) await sessions.createSession({ ...USER, sessionId });
    await workers.run('appendTurns', (index) => ({
      sessions: ids.map((id) => ({ ...USER, id })),
      writer: `w${index}`,
      turns: TURNS_EACH,
    }));
    // A process that finds a session locked retries it later.
    await until(async () => (await Promise.all(ids.map(viewLength))).every((length) => length <= 1 + OPTIONS.events));
    const counts = await workers.run('settleSummaries', () => undefined);
    const sumOf = (name: 'stored' | 'failed'): number => counts.reduce((sum, ofOne) => sum + ofOne[name], 0);
    return { stored: sumOf('stored'), failed: sumOf('failed'), calls: model.takeCalls() };
  }

  it.each([1, 4])(
    'write each summary once, with one call of the model, and lose no event (sessions: %i)',
    async (count) => {
      const ids = Array.from({ length: count }, (_, number) => `s-${number}`);
      const counts = await appendEverywhere(ids);
      let summaries = 0;
      for (const sessionId of ids) {
        const log = await expectConsistentSummaries(sessions, { ...USER, sessionId }, OPTIONS);
        expect(log.messageIds.toSorted()).toEqual(ALL_IDS);
        expect(log.count).toBeGreaterThan(0);
        summaries += log.count;
      }
      expect(counts).toEqual({ stored: summaries, failed: 0, calls: summaries });
    },
  );
});

const ALL_IDS = Array.from({ length: PROCESSES }, (_, writer) =>
  Array.from({ length: TURNS_EACH }, (_turn, index) => [`w${writer}-q${index + 1}`, `w${writer}-a${index + 1}`]),
)
  .flat(2)
  .toSorted();
