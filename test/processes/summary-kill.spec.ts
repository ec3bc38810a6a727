import { SessionService } from '../../src/index.js';
import { ModelServer } from '../support/model-server.js';
import { type SharedStore, describeEveryStore } from '../support/processes/shared-stores.js';
import { expectHealthy, inStore } from '../support/processes/session-checks.js';
import { openDescribed } from '../support/processes/store-description.js';
import type { Step } from '../support/processes/kill-points.js';
import { expectConsistentSummaries } from '../support/processes/summarized-log.js';
import { WorkerProcess } from '../support/processes/worker-process.js';
import { chosenStoreNames } from '../support/store-names.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'one' };
const SESSION = { appName: 'shop', userId: 'ann', id: 'one' };
const OPTIONS = { turns: 0, contentLength: 0, events: 11, keepRecentEvents: 4 };
/** Six turns: the very last event makes a summary due. */
const TURNS = 6;
/** By then, the lease and the agenda delay of the killed process have expired. */
const AHEAD_MS = 61_000;

/** How often the model is called in total, and whether there is a summary before the sweep. */
const STEPS: readonly [step: Step, calls: number, isWritten: boolean | 'perhaps'][] = [
  ['after the model call', 2, false],
  ['during the write', 2, 'perhaps'],
  ['after the write', 1, true],
];

/** The same for a store as after the model call. */
const BEFORE_THE_CALL: typeof STEPS = [['before the model call', 1, false]];
const FIRST_STORE = chosenStoreNames().find((name) => name !== 'memory');

let model: ModelServer;
/** Started in advance, so that the next test need not wait for it. */
let spare: Promise<WorkerProcess>;
let successor: WorkerProcess;

beforeAll(async () => {
  model = await ModelServer.start();
  spare = WorkerProcess.start();
  successor = await WorkerProcess.start();
});

afterAll(async () => {
  await (await spare).stop();
  await successor.stop();
  await model.stop();
});

describeEveryStore('a process that is killed while it summarises a session of a $name store', ({ name, create }) => {
  let store: SharedStore;
  let sessions: SessionService | undefined;

  beforeEach(async () => {
    store = await create();
    await inStore(store, (creating) => creating.createSession(KEY));
  });

  afterEach(async () => {
    await successor.run('close', undefined);
    await sessions?.close();
    await store.destroy();
  });

  it.each(name === FIRST_STORE ? [...BEFORE_THE_CALL, ...STEPS] : STEPS)(
    '%s leaves a complete log, and the next sweep ensures that there is one summary',
    async (step, calls, isWritten) => {
      const worker = await spare;
      spare = WorkerProcess.start();
      const opening = { store: store.description, modelUrl: model.url, options: OPTIONS };
      await worker.run('openSummarized', { ...opening, stopAt: step });
      const killed = worker.run('appendTurns', { sessions: [SESSION], writer: 'w', turns: TURNS });
      const settled = killed.then(() => worker.run('settleSummaries', undefined));
      await expect(settled).rejects.toThrow('The worker process ended');
      await worker.stop();
      // The server may still execute the last statements of the killed process.
      await store.settle();
      sessions = new SessionService({ storage: await openDescribed(store.description) });

      const before = await sessions.listEvents({ ...KEY, limit: 1_000 });
      expect(before.events.slice(0, 2 * TURNS).map(({ id }) => id)).toEqual(ALL_IDS);
      if (isWritten !== 'perhaps') expect(before.events).toHaveLength(2 * TURNS + (isWritten ? 1 : 0));
      const written = before.events.length - 2 * TURNS;

      await successor.run('openSummarized', { ...opening, aheadMs: AHEAD_MS });
      expect(await successor.run('sweepSummaries', undefined)).toBe(1);
      const log = await expectConsistentSummaries(sessions, KEY, OPTIONS);
      expect(log).toEqual({ count: 1, messageIds: ALL_IDS });
      expect(model.takeCalls()).toBe(isWritten === 'perhaps' ? calls - written : calls);
      await expectHealthy(store);
    },
  );
});

const ALL_IDS = Array.from({ length: TURNS }, (_, index) => [`w-q${index + 1}`, `w-a${index + 1}`]).flat();
