import { SessionService } from '../../src/index.js';
import { ConsumedEvents } from '../support/consumed-events.js';
import { sharedDatabase } from '../support/processes/shared-databases.js';
import { sharedRedis } from '../support/processes/shared-redis.js';
import { type SharedStore, describeChosen } from '../support/processes/shared-stores.js';
import { openDescribed } from '../support/processes/store-description.js';
import { redisUrl } from '../support/redis-store.js';
import { mariaDbServer, postgresServer } from '../support/sql-servers.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'one' };
const SESSION = { appName: 'shop', userId: 'ann', id: 'one' };
/** More than a registration takes, and less than after which a store reads the clock again. */
const BLOCKED_MS = 600;

const stores = [
  { name: 'redis', create: async () => sharedRedis(redisUrl) },
  { name: 'mariadb', create: () => sharedDatabase(mariaDbServer) },
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

  async function open(): Promise<SessionService> {
    const service = new SessionService({ storage: await openDescribed(store.description) });
    services.push(service);
    return service;
  }

  it('get what a process appends after their registration that knows the time of the server late', async () => {
    const [writer, reader] = [await open(), await open()];
    await writer.createSession(KEY);
    await readLate(writer);
    const consumer = await ConsumedEvents.of(reader);
    await writer.appendEvent({ session: SESSION, event: { id: 'e1', author: 'agent' } });
    await consumer.untilThereAre(1);
    await consumer.stop();
  });
});

/** Takes the answer of the server, and its time with it, only after a while in which the process was busy. */
async function readLate(writer: SessionService): Promise<void> {
  const answered = writer.appendEvent({ session: SESSION, event: { author: 'agent' } });
  await new Promise((resolve) => void setImmediate(resolve));
  for (const begin = performance.now(); performance.now() < begin + BLOCKED_MS;);
  await answered;
}
