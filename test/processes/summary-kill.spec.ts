import { SessionService } from '../../src/index.js';
import { ModelServer } from '../support/model-server.js';
import { type SharedStore, describeSharedStores } from '../support/processes/shared-stores.js';
import { inStore } from '../support/processes/session-story.js';
import { openDescribed } from '../support/processes/store-description.js';
import type { Step } from '../support/processes/stopping-dead.js';
import { expectConsistentSummaries } from '../support/processes/summarized-log.js';
import { WorkerProcess } from '../support/processes/worker-process.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'one' };
const SESSION = { appName: 'shop', userId: 'ann', id: 'one' };
const OPTIONS = { turns: 0, contentLength: 0, events: 11, keepRecentEvents: 4 };
/** Six turns: the very last event makes a summary due. */
const TURNS = 6;
/** Neither the lease of the dead nor its note is in force any more then. */
const AHEAD_MS = 61_000;

/** How often the model is asked in all, and whether there is a summary before anybody looks. */
const STEPS: readonly [step: Step, calls: number, isWritten: boolean | 'perhaps'][] = [
  ['before the model is asked', 1, false],
  ['after the model answered', 2, false],
  ['while it is written', 2, 'perhaps'],
  ['after it was written', 1, true],
];

let model: ModelServer;
/** Started early, so that it can go on where another was killed. */
let spare: Promise<WorkerProcess>;
let heir: WorkerProcess;

beforeAll(async () => {
  model = await ModelServer.start();
  spare = WorkerProcess.start();
  heir = await WorkerProcess.start();
});

afterAll(async () => {
  await (await spare).stop();
  await heir.stop();
  await model.stop();
});

describeSharedStores('a process that is killed while it summarises a session of a $name store', ({ create }) => {
  let store: SharedStore;
  let sessions: SessionService | undefined;

  beforeEach(async () => {
    store = await create();
    await inStore(store, (creating) => creating.createSession(KEY));
  });

  afterEach(async () => {
    await heir.run('close', undefined);
    await sessions?.close();
    await store.destroy();
  });

  it.each(STEPS)(
    '%s leaves the log whole, and the summary is there once after the next look',
    async (step, calls, isWritten) => {
      const worker = await spare;
      spare = WorkerProcess.start();
      const opening = { store: store.description, modelUrl: model.url, options: OPTIONS };
      await worker.run('openSummarized', { ...opening, stopAt: step });
      const killed = worker.run('appendTurns', { sessions: [SESSION], writer: 'w', turns: TURNS });
      const settled = killed.then(() => worker.run('settleSummaries', undefined));
      await expect(settled).rejects.toThrow('The worker process ended');
      await worker.stop();
      // The server may still be carrying out the last statements of the killed process.
      await store.settle();
      sessions = new SessionService({ storage: await openDescribed(store.description) });

      const before = await sessions.listEvents({ ...KEY, limit: 1_000 });
      expect(before.events.slice(0, 2 * TURNS).map(({ id }) => id)).toEqual(EVERYTHING_SAID);
      if (isWritten !== 'perhaps') expect(before.events).toHaveLength(2 * TURNS + (isWritten ? 1 : 0));
      const written = before.events.length - 2 * TURNS;

      await heir.run('openSummarized', { ...opening, aheadMs: AHEAD_MS });
      expect(await heir.run('sweepSummaries', undefined)).toBe(1);
      const log = await expectConsistentSummaries(sessions, KEY, OPTIONS);
      expect(log).toEqual({ count: 1, said: EVERYTHING_SAID });
      expect(model.takeCalls()).toBe(isWritten === 'perhaps' ? calls - written : calls);
    },
  );
});

const EVERYTHING_SAID = Array.from({ length: TURNS }, (_, index) => [`w-q${index + 1}`, `w-a${index + 1}`]).flat();
