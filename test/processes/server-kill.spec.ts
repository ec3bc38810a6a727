import { StoreUnavailableError } from '../../src/index.js';
import { type KillableStore, killableStores } from '../support/processes/killable-stores.js';
import { expectHealthy, inStore } from '../support/processes/session-checks.js';
import { describeChosen } from '../support/processes/shared-stores.js';
import { RetryingWriters, expectNothingLost } from '../support/processes/retrying-writers.js';

const SESSIONS = ['s-0', 's-1', 's-2'].map((id) => ({ appName: 'shop', userId: `of ${id}`, id }));
const KILLS = [1, 2, 3];
const EVENTS_BEFORE_KILL = 150;
/** For timers on a busy machine. */
const SLACK_MS = 10_000;

describeChosen('A server of a $name store that is killed under load', killableStores, ({ start }) => {
  let running: KillableStore;
  let writers: RetryingWriters;

  beforeAll(async () => {
    running = await start();
    await inStore(running.store, async (sessions) => {
      for (const { id: sessionId, ...user } of SESSIONS) await sessions.createSession({ ...user, sessionId });
    });
    writers = await RetryingWriters.open(running.store.description, SESSIONS);
  });

  afterAll(async () => {
    await writers.close();
    await running.server.stop();
  });

  it.each(KILLS)('has every acknowledged event exactly once after a restart (%i)', async () => {
    const { server, store, callLimitMs } = running;
    const errorsBefore = writers.errors.length;
    await writers.writeAround(EVENTS_BEFORE_KILL, async () => {
      for (const process of server.processes) await process.kill();
      await writers.allRefused();
      for (const process of server.processes) await process.restart();
      await writers.allAcknowledged();
    });

    expect(writers.errors.length).toBeGreaterThan(errorsBefore);
    expect(writers.errors.filter((error) => !(error instanceof StoreUnavailableError))).toEqual([]);
    expect(writers.longestCallMs).toBeLessThan(callLimitMs + SLACK_MS);
    await inStore(store, (sessions) => expectNothingLost(sessions, writers));
    await store.checkIntegrity();
    await expectHealthy(store);
  });
});
