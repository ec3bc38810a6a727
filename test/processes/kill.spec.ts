import { setTimeout as delay } from 'node:timers/promises';
import type { SessionReference } from '../../src/index.js';
import { numberedEvents } from '../support/processes/numbered-event.js';
import { type SharedStore, describeSharedStores } from '../support/processes/shared-stores.js';
import { expectToAgree, inStore, wholeLog } from '../support/processes/session-story.js';
import { WorkerProcess } from '../support/processes/worker-process.js';
import { randomNumbers, seed } from '../support/random.js';
import type { StoreName } from '../support/store-names.js';

const USER = { appName: 'shop', userId: 'ann' };
/** Only in SQLite does the process that is killed write the files itself. */
const KILLS: Partial<Record<StoreName, number>> = { sqlite: 20 };
const KILLS_WITH_SERVER = 10;
/** How many events a process appends together, by turns. */
const TOGETHER = [1, 7];

describeSharedStores(`a process that is killed while it writes to a $name store (SEED=${seed})`, ({ name, create }) => {
  const kills = Array.from({ length: KILLS[name] ?? KILLS_WITH_SERVER }, (_, index) => ({
    kill: index + 1,
    together: TOGETHER[index % TOGETHER.length] ?? 1,
  }));
  const random = randomNumbers(seed);
  let store: SharedStore;
  /** Started early, so that it can go on at once where another was killed. */
  let spare: Promise<WorkerProcess>;
  /** Of all sessions until now. */
  let sharedState: Record<string, unknown> = {};

  beforeAll(async () => {
    store = await create();
    spare = WorkerProcess.start();
  });

  afterAll(async () => {
    await (await spare).stop();
    await store.destroy();
  });

  it.each(kills)(
    'leaves all that was acknowledged and nothing half done ($kill, $together events)',
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
      // The server may still be carrying out the commit of the killed process.
      await store.settle();

      await inStore(store, async (sessions) => {
        const log = await wholeLog(sessions, session);
        // What was under way may have been stored and not acknowledged, as a whole.
        expect([acknowledged, acknowledged + together]).toContain(log.length);
        expect(log.map(({ id }) => id)).toEqual(log.map((_, index) => `${writer}-${index + 1}`));
        await expectToAgree(sessions, session, initialState, log);
        await store.checkIntegrity();

        const again = { session, events: numberedEvents(writer, acknowledged + 1, together) };
        const { events, duplicate } = await sessions.appendBatch(again);
        expect(duplicate).toBe(log.length > acknowledged);
        const logAfter = await wholeLog(sessions, session);
        expect(logAfter.slice(acknowledged)).toEqual(events);
        expect(events).toHaveLength(together);
        const expected = await expectToAgree(sessions, session, initialState, logAfter);
        sharedState = { ...expected.stateOf('user:'), ...expected.stateOf('app:') };
      });
    },
  );
});

/** How many events the worker could report before its end. */
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
