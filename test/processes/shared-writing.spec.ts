import { SessionService } from '../../src/index.js';
import { type SharedStore, describeEveryStore } from '../support/processes/shared-stores.js';
import { expectHealthy, wholeLog } from '../support/processes/session-checks.js';
import { openDescribed } from '../support/processes/store-description.js';
import { WorkerProcesses } from '../support/processes/worker-process.js';
import { rounds } from '../support/rounds.js';

const PROCESSES = 4;
const EVENTS_EACH = rounds(120);
/** Event n reports n tokens. */
const TOKENS_EACH = (EVENTS_EACH * (EVENTS_EACH + 1)) / 2;
const USER = { appName: 'shop', userId: 'ann' };
const KEY = { ...USER, sessionId: 's-1' };
const idOf = (index: number): string => `own-${index}`;
const SESSION = { id: KEY.sessionId, appName: KEY.appName, userId: KEY.userId };

let workers: WorkerProcesses;

beforeAll(async () => {
  workers = await WorkerProcesses.start(PROCESSES);
});

afterAll(() => workers.stop());

describeEveryStore('several processes and one $name store', ({ create }) => {
  let store: SharedStore;
  let sessions: SessionService;

  beforeEach(async () => {
    store = await create();
    sessions = new SessionService({ storage: await openDescribed(store.description) });
    await sessions.createSession({ ...KEY, state: { base: 0 } });
    await workers.run('open', () => ({ store: store.description }));
  });

  afterEach(async () => {
    await workers.run('close', () => undefined);
    await sessions.close();
    await store.destroy();
  });

  it('lose no event and no key if they write to one session', async () => {
    await workers.run('appendNumbered', (index) => ({ session: SESSION, writer: `w${index}`, count: EVENTS_EACH }));

    const session = await sessions.getSession(KEY);
    const total = PROCESSES * EVENTS_EACH;
    expect(session?.events.map(({ seq }) => seq)).toEqual(Array.from({ length: total }, (_, index) => index + 1));
    expect(session?.version).toBe(total);
    expect(session?.conversationCount).toBe(total / 2);
    const state = session?.state.toRecord() ?? {};
    for (let index = 0; index < PROCESSES; index++) {
      const numbers = Array.from({ length: EVENTS_EACH }, (_, place) => `w${index}-${place + 1}`);
      const ofWriter = session?.events.filter(({ id }) => id.startsWith(`w${index}-`)) ?? [];
      expect(ofWriter.map(({ id }) => id)).toEqual(numbers);
      for (const prefix of ['', 'user:', 'app:']) {
        expect(numbers.filter((name) => !Object.hasOwn(state, prefix + name))).toEqual([]);
        expect(state[`${prefix}last-w${index}`]).toBe(EVENTS_EACH);
      }
    }
    for (const owner of [KEY, USER, { appName: KEY.appName }]) {
      expect((await sessions.getUsage(owner)).total).toMatchObject({
        events: total,
        totalTokens: PROCESSES * TOKENS_EACH,
      });
    }
    // Proves that they wrote concurrently.
    const writers = session?.events.map(({ id }) => id.split('-')[0]) ?? [];
    expect(writers.filter((writer, index) => writer !== writers[index - 1]).length).toBeGreaterThan(2 * PROCESSES);
    await store.checkIntegrity();
    await expectHealthy(store);
  });

  it('lose no shared key if each writes to its own session', async () => {
    for (let index = 0; index < PROCESSES; index++) {
      await sessions.createSession({ ...KEY, sessionId: idOf(index) });
    }
    await workers.run('appendNumbered', (index) => ({
      session: { ...SESSION, id: idOf(index) },
      writer: `w${index}`,
      count: EVENTS_EACH,
    }));

    for (const owner of [USER, { appName: USER.appName }]) {
      expect((await sessions.getUsage(owner)).total.totalTokens).toBe(PROCESSES * TOKENS_EACH);
    }
    const shared = { user: await sessions.getUserState(KEY), app: await sessions.getAppState(KEY) };
    for (const state of [shared.user, shared.app]) {
      expect(Object.keys(state).filter((name) => /^w\d-\d+$/.test(name))).toHaveLength(PROCESSES * EVENTS_EACH);
    }
    for (let index = 0; index < PROCESSES; index++) {
      const numbers = Array.from({ length: EVENTS_EACH }, (_, place) => place + 1);
      const expected = Object.fromEntries(numbers.map((number) => [`w${index}-${number}`, number]));
      expect(shared.user).toMatchObject(expected);
      expect(shared.app).toMatchObject(expected);
      expect((await sessions.getUsage({ ...USER, sessionId: idOf(index) })).total.totalTokens).toBe(TOKENS_EACH);
      const log = await wholeLog(sessions, { ...SESSION, id: idOf(index) });
      expect(log.map(({ id, seq }) => [id, seq])).toEqual(numbers.map((number) => [`w${index}-${number}`, number]));
    }
    await store.checkIntegrity();
    await expectHealthy(store);
  });
});
