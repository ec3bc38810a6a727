import { setTimeout as delay } from 'node:timers/promises';
import { SessionService } from '../../src/index.js';
import { describeRedis } from '../support/redis-servers.js';
import { watchedRedis } from '../support/watched-redis.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
const LIMIT_MS = 600;
/** For each script: within the limit, but not three of them together. */
const SLOWNESS_MS = 450;

describeRedis('A call of a slow $name store', ['redis-cluster'], (bench) => {
  it('ends within one limit, however many scripts it runs', async () => {
    let isSlow = false;
    const client = watchedRedis(bench().client(), { afterScript: () => (isSlow ? delay(SLOWNESS_MS) : undefined) });
    const slow = new SessionService({ storage: bench().storage({ client, commandTimeoutMs: LIMIT_MS }) });
    await slow.createSession(KEY);
    const event = { id: 'e-1', author: 'user', actions: { stateDelta: { 'app:count': 1 } } };
    isSlow = true;
    const start = performance.now();
    await expect(slow.appendEvent({ session: SESSION, event })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      outcomeUnknown: true,
    });
    expect(performance.now() - start).toBeLessThan(2 * SLOWNESS_MS);
    isSlow = false;
    expect(await slow.append({ session: SESSION, event })).toMatchObject({ duplicate: true, event: { seq: 1 } });
    expect(await slow.getAppState({ appName: 'shop' })).toEqual({ count: 1 });
  });
});
