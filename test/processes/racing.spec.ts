import { SessionService } from '../../src/index.js';
import { type SharedStore, describeEveryStore } from '../support/processes/shared-stores.js';
import { openDescribed } from '../support/processes/store-description.js';
import { WorkerProcesses } from '../support/processes/worker-process.js';

const PROCESSES = 4;
const USER = { appName: 'shop', userId: 'ann' };

let workers: WorkerProcesses;

beforeAll(async () => {
  workers = await WorkerProcesses.start(PROCESSES);
});

afterAll(() => workers.stop());

describeEveryStore('concurrent processes in one $name store', ({ create }) => {
  let store: SharedStore;
  let sessions: SessionService;

  beforeEach(async () => {
    store = await create();
    sessions = new SessionService({ storage: await openDescribed(store.description) });
    await workers.run('open', () => ({ store: store.description, connections: 2 }));
  });

  afterEach(async () => {
    await workers.run('close', () => undefined);
    await sessions.close();
    await store.destroy();
  });

  it('one of 32 creates of a session succeeds', async () => {
    for (let round = 1; round <= 20; round++) {
      const key = { ...USER, sessionId: `s-${round}` };
      const outcomes = (await workers.run('create', () => ({ key, times: 8 }))).flat();
      expect(outcomes).toHaveLength(32);
      expect(outcomes.filter((outcome) => 'seq' in outcome)).toEqual([{ seq: 0, duplicate: false }]);
      expect(outcomes.filter((outcome) => 'code' in outcome)).toEqual(
        Array.from({ length: 31 }, () => ({ code: 'SESSION_EXISTS' })),
      );
    }
    const { totalItems } = await sessions.listSessions({ ...USER, page: 1 });
    expect(totalItems).toBe(20);
  });

  it('8 appends of the same event store it once and all return it', async () => {
    const session = await sessions.createSession({ ...USER, sessionId: 's-1', state: { step: 0 } });
    const reference = { id: session.id, ...USER };
    for (let round = 1; round <= 20; round++) {
      const event = { id: `e-${round}`, author: 'agent', actions: { stateDelta: { step: round, 'user:step': round } } };
      const outcomes = (await workers.run('append', () => ({ session: reference, events: [event, event] }))).flat();
      const stored = outcomes.map((outcome) => ('seq' in outcome ? outcome.seq : outcome.code));
      expect(stored).toEqual(Array.from({ length: 8 }, () => round));
      expect(outcomes.filter((outcome) => 'seq' in outcome && !outcome.duplicate)).toHaveLength(1);
      // A late repetition must not apply the delta again, which would overwrite this.
      await sessions.updateUserState({ ...USER, stateDelta: { step: -round } });
      const again = (await workers.run('append', () => ({ session: reference, events: [event] }))).flat();
      expect(again).toEqual(Array.from({ length: 4 }, () => ({ seq: round, duplicate: true })));
      expect(await sessions.getUserState(USER)).toEqual({ step: -round });
    }
    const { events } = await sessions.listEvents({ ...USER, sessionId: 's-1' });
    expect(events.map(({ id, seq }) => [id, seq])).toEqual(
      Array.from({ length: 20 }, (_, index) => [`e-${index + 1}`, index + 1]),
    );
  });

  it('one of 8 appends of different events with one id succeeds, and the others get an error', async () => {
    await sessions.createSession({ ...USER, sessionId: 's-1' });
    const session = { id: 's-1', ...USER };
    for (let round = 1; round <= 20; round++) {
      const eventOf = (writer: string) => ({ id: `e-${round}`, author: 'agent', actions: { stateDelta: { writer } } });
      const results = await workers.run('append', (index) => ({
        session,
        events: [eventOf(`${index}-a`), eventOf(`${index}-b`)],
      }));
      const names = results.flatMap((outcomes, index) =>
        outcomes.map((outcome, place) => ({ outcome, writer: `${index}-${'ab'[place]}` })),
      );
      const winners = names.filter(({ outcome }) => 'seq' in outcome);
      expect(winners.map(({ outcome }) => outcome)).toEqual([{ seq: round, duplicate: false }]);
      expect(names.filter(({ outcome }) => 'code' in outcome && outcome.code === 'EVENT_CONFLICT')).toHaveLength(7);
      const read = await sessions.getSession({ ...USER, sessionId: 's-1' });
      expect(read?.state.writer).toBe(winners[0]?.writer);
      expect(read?.events).toHaveLength(round);
    }
  });
});
