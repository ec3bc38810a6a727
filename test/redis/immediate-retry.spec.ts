import { Redis } from 'ioredis';
import { SessionService } from '../../src/index.js';
import { describeRedis } from '../support/redis-servers.js';
import { redisUrl } from '../support/redis-store.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const MANY_ATTEMPTS = 1_000;

describeRedis('A caller of a $name store that retries at once', ['redis'], (bench) => {
  it('does not prevent a reconnect', async () => {
    const client = new Redis(redisUrl, { enableOfflineQueue: false, maxRetriesPerRequest: 0, lazyConnect: true });
    client.on('error', () => undefined);
    const sessions = new SessionService({ storage: bench().storage({ client }) });
    await sessions.createSession(KEY);
    // The client has not noticed the closed connection yet, so commands fail synchronously.
    client.stream.destroy();
    let attempts = 0;
    let id: string | undefined;
    while (id === undefined && attempts < MANY_ATTEMPTS) {
      attempts += 1;
      id = await sessions.getSession(KEY).then(
        (session) => session?.id,
        () => undefined,
      );
    }
    expect(id).toBe('s');
    await sessions.close();
    client.disconnect();
  });
});
