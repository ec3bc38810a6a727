import { SessionService } from '../../src/index.js';
import { describeEveryStore } from '../support/processes/shared-stores.js';
import { openDescribed } from '../support/processes/store-description.js';
import { WorkerProcesses } from '../support/processes/worker-process.js';

const PROCESSES = 4;
const keyOf = (index: number) => ({ appName: 'shop', userId: 'ann', sessionId: `s-${index}` });

let workers: WorkerProcesses;

beforeAll(async () => {
  workers = await WorkerProcesses.start(PROCESSES);
});

afterAll(() => workers.stop());

describeEveryStore('processes that open a new $name store at the same moment', ({ createNew }) => {
  it.each(Array.from({ length: 4 }, (_, index) => index + 1))(
    'all succeed, and can use it immediately (%i)',
    async () => {
      const store = await createNew();
      try {
        await workers.run('load', () => ({ store: store.description }));
        await workers.run('open', () => ({ store: store.description, connections: 2 }));
        const created = await workers.run('create', (index) => ({ key: keyOf(index), times: 2 }));
        for (const outcomes of created) {
          expect(outcomes).toContainEqual({ seq: 0, duplicate: false });
          expect(outcomes).toContainEqual({ code: 'SESSION_EXISTS' });
        }
        await workers.run('close', () => undefined);

        const sessions = new SessionService({ storage: await openDescribed(store.description) });
        const page = await sessions.listSessions({ appName: 'shop' });
        expect(page.sessions.map(({ id }) => id).sort()).toEqual(['s-0', 's-1', 's-2', 's-3']);
        await sessions.close();
        await store.checkIntegrity();
      } finally {
        await store.destroy();
      }
    },
  );
});
