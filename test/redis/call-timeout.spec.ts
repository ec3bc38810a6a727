import { setTimeout as delay } from 'node:timers/promises';
import { SessionService } from '../../src/index.js';
import { describeRedis } from '../support/redis-servers.js';
import { APPLY_APP_WRITES, CLEAR_PENDING, observedRedis } from '../support/observed-redis.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
const LIMIT_MS = 2_000;
/** One script is within the limit, two are not. */
const DELAY_MS = 1_500;

describeRedis('A call of a slow $name store', ['redis-cluster'], (bench) => {
  it('ends within one time limit, even if it runs several scripts', async () => {
    let isSlow = false;
    const started = new Set<string>();
    const client = observedRedis(bench().client(), {
      beforeScript: (sha) => void started.add(sha),
      afterScript: () => (isSlow ? delay(DELAY_MS) : undefined),
    });
    const slow = new SessionService({ storage: bench().storage({ client, commandTimeoutMs: LIMIT_MS }) });
    await slow.createSession(KEY);
    // The first event of a session also runs a script for consumers, which no append waits for. This one also loads all
    // scripts of such an append: one that a server does not know yet runs in another way, which is not slowed down here.
    await slow.append({ session: SESSION, event: { author: 'user', actions: { stateDelta: { 'app:count': 0 } } } });
    await slow.whenIdle();
    const event = { id: 'e-1', author: 'user', actions: { stateDelta: { 'app:count': 1 } } };
    isSlow = true;
    started.clear();
    await expect(slow.appendEvent({ session: SESSION, event })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      outcomeUnknown: true,
    });
    // After the scripts that count the state of the app and append, there is no time left for the others.
    expect(started).not.toContain(APPLY_APP_WRITES.sha);
    expect(started).not.toContain(CLEAR_PENDING.sha);
    isSlow = false;
    expect(await slow.append({ session: SESSION, event })).toMatchObject({ event: { seq: 2 } });
    expect(await slow.getAppState({ appName: 'shop' })).toEqual({ count: 1 });
  });
});
