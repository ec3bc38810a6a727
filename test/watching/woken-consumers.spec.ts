import { SessionService } from '../../src/index.js';
import { ConsumedEvents } from '../support/consumed-events.js';
import { sharedDatabase } from '../support/processes/shared-databases.js';
import { sharedRedis, sharedRedisCluster } from '../support/processes/shared-redis.js';
import { type SharedStore, describeChosen } from '../support/processes/shared-stores.js';
import { openDescribed } from '../support/processes/store-description.js';
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
  let store: SharedStore;
  let services: SessionService[];

  beforeEach(async () => {
    store = await create();
    services = [];
  });

  afterEach(async () => {
    for (const service of services) await service.close();
    await store.destroy();
  });

  /** A service over connections of its own, as in another process. */
  async function open(): Promise<SessionService> {
    const service = new SessionService({ storage: await openDescribed(store.description) });
    services.push(service);
    return service;
  }

  it('get events of another process without a poll, also those that run where nobody dispatches', async () => {
    const [writer, one, other] = [await open(), await open(), await open()];
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
