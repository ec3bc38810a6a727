import { SessionService } from '../../src/index.js';
import { ConsumedEvents } from '../support/consumed-events.js';
import { numberedEvents } from '../support/processes/numbered-event.js';
import { type SharedStore, describeSharedStores } from '../support/processes/shared-stores.js';
import { inStore } from '../support/processes/session-checks.js';
import { openDescribed } from '../support/processes/store-description.js';
import { until } from '../support/until.js';
import { WorkerProcess } from '../support/processes/worker-process.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'one' };
const SESSION = { appName: 'shop', userId: 'ann', id: 'one' };
/** Neither the lease of the dead nor its claim is in force any more then. */
const AHEAD_MS = 61_000;

let spare: Promise<WorkerProcess>;

beforeAll(() => {
  spare = WorkerProcess.start();
});

afterAll(async () => (await spare).stop());

async function nextWorker(): Promise<WorkerProcess> {
  const worker = await spare;
  spare = WorkerProcess.start();
  return worker;
}

describeSharedStores('consumers of a $name store', ({ create }) => {
  let store: SharedStore;

  beforeEach(async () => {
    store = await create();
    await inStore(store, async (sessions) => {
      await sessions.createSession(KEY);
      await (await sessions.consume({ name: 'mail', handler: () => undefined })).stop();
    });
  });

  afterEach(() => store.destroy());

  /** Consumes what is left, in this process. */
  async function consumed(): Promise<{ seq: number; attempt: number }[]> {
    const storage = await openDescribed(store.description, { clock: { now: () => Date.now() + AHEAD_MS } });
    const sessions = new SessionService({ storage });
    const mail = await ConsumedEvents.of(sessions);
    await until(async () => {
      const lag = await sessions.consumers.lag('mail');
      return mail.events.length > 0 && lag?.sessions === 0 && lag.undispatched === 0;
    });
    await mail.stop();
    await sessions.close();
    return mail.events.map(({ event, attempt }) => ({ seq: event.seq, attempt }));
  }

  it('get an event again if the process died after it was handled', async () => {
    await inStore(store, (sessions) => sessions.appendEvents({ session: SESSION, events: numberedEvents('w', 1, 3) }));
    const worker = await nextWorker();
    const handled: number[] = [];
    const dying = worker.run(
      'consumeUntilDead',
      { store: store.description, name: 'mail', diesAt: 2 },
      { onProgress: (seq) => handled.push(seq) },
    );
    await expect(dying).rejects.toThrow('The worker process ended');
    await worker.stop();
    await store.settle();
    expect(handled).toEqual([1, 2]);
    const again = await consumed();
    // On a slow machine the first event was noted.
    const first = again[0]?.seq ?? 0;
    expect([1, 2]).toContain(first);
    expect(again).toEqual(
      [1, 2, 3].filter((seq) => seq >= first).map((seq) => ({ seq, attempt: seq === first ? 2 : 1 })),
    );
  });

  it('give up an event that ends the process at each try, and go on after it', async () => {
    const maxTries = 2;
    await inStore(store, (sessions) => sessions.appendEvents({ session: SESSION, events: numberedEvents('w', 1, 3) }));
    const handled: number[] = [];
    const task = { store: store.description, name: 'mail', diesAt: 2, maxTries };
    for (let round = 0; !handled.includes(3); round++) {
      const worker = await nextWorker();
      let hasEnded = false;
      worker
        .run('consumeUntilDead', { ...task, aheadMs: round * AHEAD_MS }, { onProgress: (seq) => handled.push(seq) })
        .catch(() => (hasEnded = true));
      await until(() => hasEnded || handled.includes(3));
      await worker.kill();
      await store.settle();
    }
    // It counts only when it was alone, after two other deaths.
    expect(handled.filter((seq) => seq === 2)).toHaveLength(2 + maxTries);
    expect(handled.at(-1)).toBe(3);
    await inStore(store, async (sessions) => {
      const letters = await sessions.consumers.deadLetters({ consumer: 'mail' });
      expect(letters).toMatchObject([{ ...KEY, seq: 2, tries: maxTries }]);
      expect(letters[0]?.problem).toContain('The process ended');
    });
  });

  it('give up no event of other sessions', async () => {
    const ids = ['one', 'two', 'three', 'four'];
    const maxTries = 1;
    await inStore(store, async (sessions) => {
      for (const id of ids) {
        await sessions.getOrCreateSession({ ...KEY, sessionId: id });
        await sessions.appendEvents({ session: { ...SESSION, id }, events: numberedEvents('w', 1, 2) });
      }
    });
    const deadly = { sessionId: 'one', seq: 1 };
    const task = { store: store.description, name: 'mail', maxTries, deadly, sessions: ids.length };
    const running: number[] = [];
    for (let round = 0, isDone = false; !isDone; round++) {
      const worker = await nextWorker();
      isDone = await worker
        .run('consumeDeadly', { ...task, aheadMs: round * AHEAD_MS }, { onProgress: (count) => running.push(count) })
        .then(
          () => true,
          () => false,
        );
      await (isDone ? worker.end() : worker.stop());
      await store.settle();
    }
    expect(running).toHaveLength(2 + maxTries);
    expect(running.slice(2)).toEqual([1]);
    await inStore(store, async (sessions) => {
      const letters = await sessions.consumers.deadLetters({ consumer: 'mail' });
      expect(letters.map(({ sessionId, seq }) => ({ sessionId, seq }))).toEqual([deadly]);
    });
  });

  it('get events whose writer died right after the commit', async () => {
    const worker = await nextWorker();
    const dying = worker.run('appendAndDie', { store: store.description, session: SESSION, count: 2 });
    await expect(dying).rejects.toThrow('The worker process ended');
    await worker.stop();
    await store.settle();
    expect(await consumed()).toEqual([
      { seq: 1, attempt: 1 },
      { seq: 2, attempt: 1 },
    ]);
  });
});
