import { StoreUnavailableError } from '../../src/index.js';
import { type FailingOver, failingOver } from '../support/processes/failing-over.js';
import { RetryingWriters, expectNothingLost } from '../support/processes/retrying-writers.js';
import { expectHealthy, inStore } from '../support/processes/session-checks.js';
import { describeChosen } from '../support/processes/shared-stores.js';

const SESSIONS = ['s-0', 's-1', 's-2'].map((id) => ({ appName: 'shop', userId: `of ${id}`, id }));
const EVENTS_BEFORE_KILL = 150;

/** One that is killed for good, or comes back as a replica. On a cluster of Redis: `redis/failover`. */
describeChosen(
  'A server of a $name store that is killed under load, with another that takes over',
  failingOver,
  (kind) => {
    let running: FailingOver;
    let writers: RetryingWriters;

    beforeAll(async () => {
      running = await kind.start();
      await inStore(running.store, async (sessions) => {
        for (const { id: sessionId, ...user } of SESSIONS) await sessions.createSession({ ...user, sessionId });
      });
      writers = await RetryingWriters.open(running.store.description, SESSIONS);
    });

    afterAll(async () => {
      await writers?.close();
      await running?.stop();
    });

    it('loses and doubles no acknowledged event, and nobody has to open it again', async () => {
      await writers.writeAround(EVENTS_BEFORE_KILL, async () => {
        await running.kill();
        await writers.allRefused();
        await running.takeOver();
        await writers.allAcknowledged();
      });
      expect(writers.errors.filter((error) => !(error instanceof StoreUnavailableError))).toEqual([]);
      await inStore(running.store, (sessions) => expectNothingLost(sessions, writers));
      await running.store.checkIntegrity();
      await expectHealthy(running.store);
    });
  },
);
