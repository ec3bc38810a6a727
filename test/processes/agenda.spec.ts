import type { SessionStorage } from '../../src/storage.js';
import { type SharedStore, describeSharedStores } from '../support/processes/shared-stores.js';
import { openDescribed } from '../support/processes/store-description.js';
import { WorkerProcesses } from '../support/processes/worker-process.js';
import { rounds } from '../support/rounds.js';

const PROCESSES = 4;
const PUTS_EACH = rounds(250);
const namesOf = (worker: number): string[] => Array.from({ length: PUTS_EACH }, (_, number) => `w${worker}-${number}`);
const WORKERS = Array.from({ length: PROCESSES }, (_, index) => index);

let workers: WorkerProcesses;

beforeAll(async () => {
  workers = await WorkerProcesses.start(PROCESSES);
});

afterAll(() => workers.stop());

describeSharedStores('processes that share the agenda of one $name store', ({ create }) => {
  let store: SharedStore;
  let storage: SessionStorage;

  beforeEach(async () => {
    store = await create();
    storage = await openDescribed(store.description);
    await workers.run('open', () => ({ store: store.description, connections: 2 }));
  });

  afterEach(async () => {
    await workers.run('close', () => undefined);
    await storage.close();
    await store.destroy();
  });

  it('lose no name', async () => {
    await workers.run('putOnAgenda', (worker) => ({ names: namesOf(worker), inMs: 0 }));
    const found = (await storage.agenda.due(1_000)).map(({ name }) => name);
    expect(found.toSorted()).toEqual(WORKERS.flatMap(namesOf).toSorted());
  });

  it('store the latest time if they put the same names', async () => {
    const names = Array.from({ length: PUTS_EACH }, (_, number) => `job-${number}`);
    const orders = [names, names.toReversed(), [...names.slice(100), ...names.slice(0, 100)], names];
    // The last one postpones all names, so that none is due.
    await workers.run('putOnAgenda', (worker) => ({ names: orders[worker] ?? [], inMs: worker < 3 ? 0 : HOUR_MS }));
    expect(await storage.agenda.due(1_000)).toEqual([]);
    const later = await openDescribed(store.description, { clock: { now: () => Date.now() + 2 * HOUR_MS } });
    const found = await later.agenda.due(1_000);
    await later.close();
    expect(found.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  });
});

const HOUR_MS = 3_600_000;
