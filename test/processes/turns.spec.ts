import { SessionService, TurnHeldError } from '../../src/index.js';
import { numberedEvent } from '../support/processes/numbered-event.js';
import { type SharedStore, describeSharedStores } from '../support/processes/shared-stores.js';
import { openDescribed } from '../support/processes/store-description.js';
import { WorkerProcess, WorkerProcesses } from '../support/processes/worker-process.js';
import { until } from '../support/until.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { id: KEY.sessionId, appName: KEY.appName, userId: KEY.userId };
const PROCESSES = 3;
const CALLS_EACH = 10;
/** The clock of a process is behind by this. A turn that is over by the other clocks continues by this one. */
const BEHIND_MS = 60 * 60_000;

let workers: WorkerProcesses;

beforeAll(async () => {
  workers = await WorkerProcesses.start(PROCESSES);
});

afterAll(() => workers.stop());

describeSharedStores('turns of several processes on a $name store', ({ create }) => {
  let store: SharedStore;
  let sessions: SessionService;

  beforeEach(async () => {
    store = await create();
    sessions = new SessionService({ storage: await openDescribed(store.description) });
    await sessions.createSession({ ...KEY, turnsOnly: true });
  });

  afterEach(async () => {
    await workers.run('close', () => undefined);
    await sessions.close();
    await store.destroy();
  });

  it('one of several concurrent requests begins the turn', async () => {
    await workers.run('open', () => ({ store: store.description, connections: 2 }));
    const outcomes = await workers.run('beginTurns', (index) => ({
      turn: { ...KEY, holder: `process ${index}`, ttlMs: 60_000 },
      times: CALLS_EACH,
    }));
    const codes = outcomes.flat().map((outcome) => ('code' in outcome ? outcome.code : 'begun'));
    expect(codes.toSorted()).toEqual([
      ...Array.from({ length: PROCESSES * CALLS_EACH - 1 }, () => 'TURN_HELD'),
      'begun',
    ]);
    const winner = outcomes.findIndex((of) => of.some((outcome) => !('code' in outcome)));
    expect(await sessions.getTurn(KEY)).toMatchObject({ number: 1, holder: `process ${winner}` });
  });

  it('a process that was stopped past its turn writes nothing when it continues', async () => {
    const zombie = await WorkerProcess.start();
    try {
      await zombie.run('open', { store: store.description, now: Date.now() - BEHIND_MS });
      let isStopping = false;
      const ending = zombie.run(
        'stopInTurn',
        { turn: { ...KEY, holder: 'zombie', ttlMs: 60_000 }, writer: 'zombie', count: 3 },
        { onProgress: () => (isStopping = true) },
      );
      await until(() => isStopping);
      const turn = await sessions.beginTurn({ ...KEY, holder: 'next' });
      expect(turn.number).toBe(2);
      await sessions.appendEvent({ session: SESSION, event: numberedEvent('next', 1), turn });
      // It may not have stopped yet.
      const continuing = setInterval(() => zombie.resume(), 20);
      const outcomes = await ending.finally(() => clearInterval(continuing));
      expect(outcomes).toEqual(Array.from({ length: 3 }, () => ({ code: 'TURN_LOST' })));
      const { events } = await sessions.listEvents(KEY);
      expect(events.map(({ id }) => id)).toEqual(['zombie-1', 'zombie-2', 'zombie-3', 'next-1']);
      const state = (await sessions.getSession(KEY))?.state.toRecord() ?? {};
      expect(Object.keys(state).filter((name) => /zombie-[456]/.test(name))).toEqual([]);
      await sessions.appendEvent({ session: SESSION, event: numberedEvent('next', 2), turn });
    } finally {
      await zombie.kill();
    }
  });

  it('the turn of a killed process is taken over when it has expired', async () => {
    const killed = await WorkerProcess.start();
    await killed.run('open', { store: store.description });
    const [begun] = await killed.run('beginTurns', { turn: { ...KEY, holder: 'killed', ttlMs: 300 }, times: 1 });
    await killed.kill();
    expect(begun).toMatchObject({ number: 1 });
    let number = 0;
    await until(async () => {
      try {
        ({ number } = await sessions.beginTurn({ ...KEY, holder: 'next' }));
      } catch (error) {
        if (!(error instanceof TurnHeldError)) throw error;
        expect(error).toMatchObject({ holder: 'killed' });
      }
      return number > 0;
    });
    expect(number).toBe(2);
    expect(await sessions.getTurn(KEY)).toMatchObject({ holder: 'next' });
  });
});
