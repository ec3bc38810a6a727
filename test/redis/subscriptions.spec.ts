import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { SessionService } from '../../src/index.js';
import { RedisSessionStorage } from '../../src/redis.js';
import { slotOf } from '../../src/sessions/storage/redis/cluster-slots.js';
import { RedisFeed } from '../../src/sessions/storage/redis/live/redis-feed.js';
import { RedisKeys } from '../../src/sessions/storage/redis/redis-keys.js';
import { describeRedis } from '../support/redis-servers.js';
import { redisUrl } from '../support/redis-store.js';
import { until } from '../support/until.js';
import { TcpProxy } from '../support/tcp-proxy.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's' };
const NEVER = 1_000_000;
/** A working connection responds within this time, even on a busy machine. */
const TIMEOUT_MS = 2_000;

describeRedis('Subscriptions of a $name store', ['redis', 'redis-cluster'], (bench) => {
  it('do not use or close the client of an app', async () => {
    const client = bench().client();
    const sessions = new SessionService({ storage: bench().storage({ client }), watchPollMs: NEVER });
    const elsewhere = new SessionService({ storage: bench().storage() });
    await sessions.createSession(KEY);
    const next = sessions.watch(KEY).next();
    await elsewhere.appendEvent({ session: SESSION, event: { author: 'user', id: 'e' } });
    expect((await next).value).toMatchObject({ id: 'e' });
    await sessions.close();
    expect(await client.get(`${bench().prefix}nothing`)).toBeNull();
    await elsewhere.close();
  });
});

describeRedis('Subscriptions of a single $name node', ['redis'], (bench) => {
  it('include the keyPrefix of the client of an app', async () => {
    const client = new Redis(redisUrl, { keyPrefix: `${bench().prefix}app:` });
    const storage = new RedisSessionStorage({ client, prefix: 'agents:' });
    const sessions = new SessionService({ storage, watchPollMs: NEVER });
    const elsewhere = new SessionService({ storage: bench().storage({ prefix: `${bench().prefix}app:agents:` }) });
    await sessions.createSession(KEY);
    const next = sessions.watch(KEY).next();
    await elsewhere.appendEvent({ session: SESSION, event: { author: 'user', id: 'e' } });
    expect((await next).value).toMatchObject({ id: 'e' });
    await sessions.close();
    await elsewhere.close();
    client.disconnect();
  });

  it('are replaced by polling when the user has no permission for channels', async () => {
    const admin = bench().client() as Redis;
    const [username, password] = [`test-${randomUUID()}`, randomUUID()];
    await admin.call('ACL', 'SETUSER', username, 'on', `>${password}`, '~*', '+@all', 'resetchannels');
    try {
      const connection = { username, password };
      const sessions = new SessionService({ storage: bench().storage({ connection }), watchPollMs: 20 });
      const elsewhere = new SessionService({ storage: bench().storage({ connection }) });
      await sessions.createSession(KEY);
      const next = sessions.watch(KEY).next();
      await elsewhere.appendEvent({ session: SESSION, event: { author: 'user', id: 'e' } });
      expect((await next).value).toMatchObject({ id: 'e', seq: 1 });
      await sessions.close();
      await elsewhere.close();
    } finally {
      await admin.call('ACL', 'DELUSER', username);
    }
  });

  it('reconnect when their connection is dead', async () => {
    const { hostname: host, port } = new URL(redisUrl);
    const proxy = await TcpProxy.start({ host, port: Number(port || 6379) });
    const client = new Redis(proxy.port, '127.0.0.1', { lazyConnect: true });
    const keys = new RedisKeys(bench().prefix);
    const feed = new RedisFeed(client, keys, { timeoutMs: TIMEOUT_MS, heartbeatMs: 20 });
    const received: unknown[] = [];
    const listening = feed.listen({ key: KEY, incarnation: 'i' }, (seq) => received.push(seq));
    const untilLive = (isLive: boolean) => until(async () => listening.isLive === isLive, `It is not ${isLive}`);
    await untilLive(true);
    proxy.mode = 'black hole';
    await untilLive(false);
    proxy.mode = 'pass';
    await untilLive(true);
    const admin = bench().client() as Redis;
    await admin.publish(keys.recordOf(KEY), 'i 7');
    await admin.publish(keys.recordOf(KEY), 'another 8');
    await until(async () => received.length >= 4, 'Not all messages were received');
    expect(received).toEqual([undefined, undefined, 7, undefined]);
    feed.close();
    client.disconnect();
    await proxy.stop();
  });
});

describeRedis('Slots of a $name store', ['redis-cluster'], (bench) => {
  it('are the same as on the server', async () => {
    const keys = new RedisKeys(bench().prefix);
    const names = ['', 'a', '{}b', 'x{y}z', '{a}{b}', 'é{ü}', '}{c', keys.recordOf({ ...KEY, userId: '😀*{}' })];
    const client = bench().client();
    const slots = await Promise.all(names.map((name) => client.call('CLUSTER', 'KEYSLOT', name)));
    expect(names.map(slotOf)).toEqual(slots);
  });
});
