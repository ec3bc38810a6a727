import { setTimeout as delay } from 'node:timers/promises';
import type { SessionReference } from '../../src/index.js';
import { numberedEvents } from '../support/processes/numbered-event.js';
import { type SharedStore, describeEveryStore } from '../support/processes/shared-stores.js';
import { expectConsistent, expectHealthy, inStore, wholeLog } from '../support/processes/session-checks.js';
import { WorkerProcess } from '../support/processes/worker-process.js';
import { randomNumbers, seed } from '../support/random.js';
import type { StoreName } from '../support/store-names.js';

const USER = { appName: 'shop', userId: 'ann' };
/** Only with SQLite, the killed process itself writes the files. */
const KILLS: Partial<Record<StoreName, number>> = { sqlite: 8 };
const KILLS_WITH_SERVER = 4;
/** How many events a process appends together, alternating. */
const TOGETHER = [1, 7];

describeEveryStore(`a process that is killed while it writes to a $name store (SEED=${seed})`, ({ name, create }) => {
  const kills = Array.from({ length: KILLS[name] ?? KILLS_WITH_SERVER }, (_, index) => ({
    kill: index + 1,
    together: TOGETHER[index % TOGETHER.length] ?? 1,
  }));
  const random = randomNumbers(seed);
  let store: SharedStore;
  /** Started in advance, so that the next test need not wait for it. */
  let spare: Promise<WorkerProcess>;
  /** The shared state of all sessions so far. */
  let sharedState: Record<string, unknown> = {};
  /** The tokens of all sessions so far. */
  let tokens = 0;

  beforeAll(async () => {
    store = await create();
    spare = WorkerProcess.start();
  });

  afterAll(async () => {
    await (await spare).stop();
    await store.destroy();
  });

  it.each(kills)(
    'has stored every acknowledged event, and nothing partially ($kill, $together events)',
    async ({ kill, together }) => {
      const writer = `w${kill}`;
      const state = { base: kill, 'user:base': kill, 'app:base': kill };
      const initialState = { ...sharedState, ...state };
      const session = { ...USER, id: `s-${kill}` };
      await inStore(store, (sessions) => sessions.createSession({ ...USER, sessionId: session.id, state }));
      const worker = await spare;
      spare = WorkerProcess.start();
      const acknowledged = await acknowledgedUntilKilled(worker, store, {
        session,
        writer,
        afterMs: 20 + random() * 280,
        together,
      });
      expect(acknowledged).toBeGreaterThan(0);
      // The server may still execute the commit of the killed process.
      await store.settle();

      await inStore(store, async (sessions) => {
        const log = await wholeLog(sessions, session);
        // The last append may be stored completely without an acknowledgement.
        expect([acknowledged, acknowledged + together]).toContain(log.length);
        expect(log.map(({ id }) => id)).toEqual(log.map((_, index) => `${writer}-${index + 1}`));
        await expectConsistent(sessions, session, initialState, log);
        await store.checkIntegrity();

        const again = { session, events: numberedEvents(writer, acknowledged + 1, together) };
        const { events, duplicate } = await sessions.appendBatch(again);
        expect(duplicate).toBe(log.length > acknowledged);
        const logAfter = await wholeLog(sessions, session);
        expect(logAfter.slice(acknowledged)).toEqual(events);
        expect(events).toHaveLength(together);
        const expected = await expectConsistent(sessions, session, initialState, logAfter);
        tokens += expected.tokens;
        for (const owner of [USER, { appName: USER.appName }]) {
          expect((await sessions.getUsage(owner)).total.totalTokens).toBe(tokens);
        }
        sharedState = { ...expected.stateOf('user:'), ...expected.stateOf('app:') };
      });
    },
  );

  it('has left nothing that the doctor finds', async () => {
    await expectHealthy(store);
  });
});

/** How many events the worker reported before it was killed. */
async function acknowledgedUntilKilled(
  worker: WorkerProcess,
  store: SharedStore,
  { afterMs, ...numbered }: { session: SessionReference; writer: string; together: number; afterMs: number },
): Promise<number> {
  await worker.run('open', { store: store.description });
  let acknowledged = 0;
  let killed: Promise<void> | undefined;
  const onProgress = (number: number): void => {
    acknowledged = number;
    killed ??= delay(afterMs).then(() => worker.kill());
  };
  const writing = worker.run('appendNumbered', numbered, { onProgress });
  await expect(writing).rejects.toThrow('The worker process ended');
  await killed;
  return acknowledged;
}
