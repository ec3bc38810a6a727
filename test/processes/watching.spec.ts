import { type LoggedEvent, SessionService, type SessionServiceOptions } from '../../src/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { ManualClock } from '../../src/testing/index.js';
import { type SharedStore, describeSharedStores } from '../support/processes/shared-stores.js';
import { openDescribed } from '../support/processes/store-description.js';
import { WorkerProcess } from '../support/processes/worker-process.js';
import { until } from '../support/until.js';

const KEY = { appName: 'shop:{1}', userId: 'ann*', sessionId: 's 1' };
const SESSION = { id: KEY.sessionId, appName: KEY.appName, userId: KEY.userId };
const EVENTS = 300;

let worker: WorkerProcess;

beforeAll(async () => {
  worker = await WorkerProcess.start();
});

afterAll(() => worker.stop());

describeSharedStores('watching what another process does in one $name store', ({ name, create }) => {
  // Stores that announce changes do not poll.
  const isHeard = name === 'redis' || name === 'redis-cluster' || name === 'postgres';
  const watchPollMs = isHeard ? 1_000_000 : 20;
  let store: SharedStore;
  let opened: SessionService[];
  let storages: SessionStorage[];

  beforeEach(async () => {
    store = await create();
    opened = [];
    storages = [];
    await worker.run('open', { store: store.description });
  });

  afterEach(async () => {
    await worker.run('close', undefined);
    await Promise.all(opened.map((sessions) => sessions.close()));
    await store.destroy();
  });

  async function open(options: Partial<SessionServiceOptions> = {}): Promise<SessionService> {
    const storage = await openDescribed(store.description, { clock: options.clock });
    const sessions = new SessionService({ storage, watchPollMs, ...options });
    opened.push(sessions);
    storages.push(storage);
    return sessions;
  }

  it('delivers every event once, in order', async () => {
    const sessions = await open();
    await sessions.createSession(KEY);
    // From the beginning, since the first append of the other process may come before the start of the watch.
    const watches = Array.from({ length: 3 }, () => take(sessions.watch({ ...KEY, afterSeq: 0 }), EVENTS));
    // Both processes append.
    const there = worker.run('appendNumbered', { session: SESSION, writer: 'there', count: EVENTS / 2 });
    for (let number = 1; number <= EVENTS / 2; number++) {
      await sessions.appendEvent({ session: SESSION, event: { author: 'user', id: `here-${number}` } });
    }
    await there;
    const { events } = await sessions.listEvents({ ...KEY, limit: EVENTS });
    for (const watched of await Promise.all(watches)) expect(watched).toEqual(events);
    expect(events).toHaveLength(EVENTS);
  });

  it('ends when the session is deleted, and does not continue with a new session of the same id', async () => {
    const [sessions, elsewhere] = [await open(), await open()];
    await sessions.createSession(KEY);
    await sessions.appendEvent({ session: SESSION, event: { author: 'user' } });
    const watch = sessions.watch({ ...KEY, afterSeq: 0 });
    await watch.next();
    const end = expect(watch.next()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await elsewhere.deleteSession(KEY);
    await elsewhere.createSession(KEY);
    await elsewhere.appendEvent({ session: SESSION, event: { author: 'user' } });
    await end;
  });

  it('ends soon after the session expired, although the store does not announce it, and not before', async () => {
    const clock = new ManualClock();
    const ttl = { enabled: true, sessionSeconds: 1 };
    const [sessions, elsewhere] = [await open({ clock, ttl, watchPollMs: 20 }), await open({ clock, ttl })];
    await sessions.createSession(KEY);
    const watch = sessions.watch(KEY);
    const first = watch.next();
    clock.advance(500);
    await elsewhere.appendEvent({ session: SESSION, event: { author: 'user', id: 'prolongs' } });
    expect((await first).value).toMatchObject({ id: 'prolongs' });

    clock.advance(999);
    let isOver = false;
    const next = watch.next().finally(() => (isOver = true));
    const refused = expect(next).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    const looks = looksBefore();
    await until(() => looks.count >= 3);
    expect(isOver).toBe(false);
    clock.advance(1);
    await refused;
  });

  /** Counts how often a watch looks where its log ends. */
  function looksBefore(): { count: number } {
    const looks = { count: 0 };
    for (const storage of storages) {
      const tails = storage.tails.bind(storage);
      jest.spyOn(storage, 'tails').mockImplementation(async (logs) => {
        const found = await tails(logs);
        looks.count++;
        return found;
      });
    }
    return looks;
  }
});

async function take(watch: AsyncIterableIterator<LoggedEvent>, count: number): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for await (const event of watch) if (events.push(event) >= count) break;
  return events;
}
