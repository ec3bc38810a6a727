import { ConsumedEvents } from '../support/consumed-events.js';
import { sharedDatabase } from '../support/processes/shared-databases.js';
import { sharedRedis, sharedRedisCluster } from '../support/processes/shared-redis.js';
import { SeparateServices } from '../support/processes/separate-services.js';
import { describeChosen } from '../support/processes/shared-stores.js';
import { clusterNodes, redisUrl } from '../support/redis-store.js';
import { postgresServer } from '../support/sql-servers.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'one' };
const SESSION = { appName: 'shop', userId: 'ann', id: 'one' };
/** Longer than a test may last. */
const NO_POLL_MS = 1_000_000;

const stores = [
  { name: 'redis', create: async () => sharedRedis(redisUrl) },
  { name: 'redis-cluster', create: async () => sharedRedisCluster(clusterNodes()) },
  { name: 'postgres', create: () => sharedDatabase(postgresServer) },
] as const;

describeChosen('consumers over a $name store', stores, ({ create }) => {
  let services: SeparateServices;

  beforeEach(async () => (services = new SeparateServices(await create())));
  afterEach(() => services.close());

  it('get events of another process without a poll, also those that run where nobody dispatches', async () => {
    const [writer, one, other] = [await services.open(), await services.open(), await services.open()];
    await writer.createSession(KEY);
    const consumers = [
      await ConsumedEvents.of(one, { name: 'mail', pollMs: NO_POLL_MS }),
      await ConsumedEvents.of(other, { name: 'search', pollMs: NO_POLL_MS }),
    ];
    for (let count = 1; count <= 4; count++) {
      await writer.appendEvent({ session: SESSION, event: { id: `e${count}`, author: 'agent' } });
      for (const consumer of consumers) await consumer.untilThereAre(count);
    }
    await writer.forkSession({ ...KEY, newSessionId: 'fork' });
    for (const consumer of consumers) {
      await consumer.untilThereAre(8);
      expect(consumer.idsOf('one')).toEqual(['e1', 'e2', 'e3', 'e4']);
      expect(consumer.idsOf('fork')).toEqual(['e1', 'e2', 'e3', 'e4']);
      await consumer.stop();
    }
  });
});
