import { SessionsClient } from '../../src/client/index.js';
import { SessionService, type WatchedEvent } from '../../src/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { wordsIn } from '../agents/support/screen.js';
import { answerTo } from '../support/processes/agent-server.js';
import { LoadBalancer } from '../support/processes/load-balancer.js';
import { type SharedStore, describeSharedStores } from '../support/processes/shared-stores.js';
import { openDescribed } from '../support/processes/store-description.js';
import { WorkerProcess } from '../support/processes/worker-process.js';

const OWNER = { appName: 'shop', userId: 'ann' };
const SESSIONS = ['s-1', 's-2', 's-3', 's-4'];
/** More than one for each session, so that messages wait. */
const CALLERS = ['a', 'b'];
const INSTANCES = 3;
/** Less than an answer takes, so that some are handed over. */
const DRAIN_MS = 100;

/** What a page shows of the agent: the text of each message. Fails if a character is missing or doubled. */
class ShownAnswers {
  readonly stored: string[] = [];
  readonly #live = new Map<string, string>();

  show(event: WatchedEvent): void {
    if (event.author !== 'support') return;
    const said = this.#live.get(event.id) ?? '';
    if (event.partial === true) {
      expect([event.id, event.offset]).toEqual([event.id, said.length]);
      this.#live.set(event.id, said + wordsIn(event));
      return;
    }
    this.#live.delete(event.id);
    if (event.actions.discarded) return;
    this.stored.push(wordsIn(event));
    expect(wordsIn(event).startsWith(said)).toBe(true);
  }

  get isIdle(): boolean {
    return this.#live.size === 0;
  }
}

describeSharedStores(
  'a rolling restart over a $name store',
  ({ create }) => {
    let store: SharedStore;
    let storage: SessionStorage;
    let sessions: SessionService;
    let balancer: LoadBalancer;
    const instances: { readonly worker: WorkerProcess; readonly port: number }[] = [];

    beforeEach(async () => {
      store = await create();
      storage = await openDescribed(store.description);
      sessions = new SessionService({ storage, watchPollMs: 50 });
      balancer = await LoadBalancer.start();
      for (const sessionId of SESSIONS) await sessions.createSession({ ...OWNER, sessionId });
    });

    afterEach(async () => {
      await Promise.all(instances.splice(0).map(({ worker }) => worker.terminate()));
      balancer.close();
      await sessions.close();
      await store.destroy();
    });

    async function startInstance(): Promise<void> {
      const worker = await WorkerProcess.start();
      await worker.run('open', { store: store.description });
      const port = await worker.run('serveAgents', { drainMs: DRAIN_MS });
      instances.push({ worker, port });
      balancer.add(port);
    }

    async function stopOldest(): Promise<void> {
      const oldest = instances.shift();
      if (!oldest) return;
      balancer.remove(oldest.port);
      await oldest.worker.terminate();
    }

    /** Whether an instance left an answer to another. A busy machine can stop all of them between two answers. */
    async function isHandedOver(): Promise<boolean> {
      const logs = await Promise.all(
        SESSIONS.map((sessionId) => sessions.listEvents({ ...OWNER, sessionId, limit: 1_000 })),
      );
      return logs.some(({ events }) => events.some(({ actions }) => 'handedOver' in Object(actions.queued)));
    }

    it('has every message answered once, and every character shown once', async () => {
      for (let count = 0; count < INSTANCES; count++) await startInstance();
      const client = new SessionsClient({ url: balancer.url });
      const leaving = new AbortController();
      const pages = new Map(SESSIONS.map((sessionId) => [sessionId, new ShownAnswers()]));
      const watching = [...pages].map(async ([sessionId, page]) => {
        const watch = sessions.watch({ ...OWNER, sessionId, partials: true, signal: leaving.signal });
        for await (const event of watch) page.show(event);
      });

      const deployed = new AbortController();
      const asked = new Map(SESSIONS.map((sessionId) => [sessionId, [] as string[]]));
      const callers = SESSIONS.flatMap((sessionId) =>
        CALLERS.map(async (name) => {
          for (let count = 1; !deployed.signal.aborted; count++) {
            const newMessage = `${sessionId}-${name}${count}`;
            asked.get(sessionId)?.push(newMessage);
            let answer = '';
            for await (const event of client.streamAgent({ ...OWNER, sessionId, newMessage, policy: 'enqueue' })) {
              if (event.partial !== true && !event.actions?.discarded) answer += wordsIn(event);
            }
            expect(answer).toBe(answerTo(newMessage));
          }
        }),
      );
      const deploying = (async () => {
        for (let count = 0; count < INSTANCES || !(await isHandedOver()); count++) {
          await startInstance();
          await stopOldest();
        }
        deployed.abort();
      })();
      await Promise.all([deploying, ...callers]);

      for (const [sessionId, page] of pages) {
        const { events } = await sessions.listEvents({ ...OWNER, sessionId, limit: 1_000 });
        const messages = events.filter(({ author }) => author === 'user').map(wordsIn);
        expect(messages.toSorted()).toEqual(asked.get(sessionId)?.toSorted());
        const answers = events.filter(({ author, actions }) => author === 'support' && !actions.discarded);
        expect(answers.map(wordsIn)).toEqual(messages.map(answerTo));
        expect(answers.filter(({ errorCode }) => errorCode !== undefined)).toEqual([]);
        expect((await sessions.getSession({ ...OWNER, sessionId }))?.metadata.fields).toEqual({});
        expect([page.stored, page.isIdle]).toEqual([answers.map(wordsIn), true]);
      }
      leaving.abort();
      await Promise.all(watching);
    });
  },
  ['redis', 'postgres'],
);
