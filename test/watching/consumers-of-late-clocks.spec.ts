import type { SessionService } from '../../src/index.js';
import { ConsumedEvents } from '../support/consumed-events.js';
import { sharedDatabase } from '../support/processes/shared-databases.js';
import { sharedRedis } from '../support/processes/shared-redis.js';
import { SeparateServices } from '../support/processes/separate-services.js';
import { describeChosen } from '../support/processes/shared-stores.js';
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
  let services: SeparateServices;

  beforeEach(async () => (services = new SeparateServices(await create())));
  afterEach(() => services.close());

  it('get what a process appends after their registration that knows the time of the server late', async () => {
    const [writer, reader] = [await services.open(), await services.open()];
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
