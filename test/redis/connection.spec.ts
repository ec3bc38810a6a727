import { once } from 'node:events';
import { inspect } from 'node:util';
import { ConfigurationError, InvalidInputError, SessionService } from '../../src/index.js';
import { RedisSessionService, RedisSessionStorage } from '../../src/redis.js';
import { ALL_SCRIPTS } from '../../src/sessions/storage/redis/all-scripts.js';
import { RedisConnection } from '../../src/sessions/storage/redis/connect/redis-connection.js';
import { RedisKeys } from '../../src/sessions/storage/redis/redis-keys.js';
import { LIST_APPS } from '../../src/sessions/storage/redis/expire/purge-expired.js';
import { retryUntilSuccess } from '../support/until.js';
import { freePort } from '../servers/free-port.js';
import { describeRedis } from '../support/redis-servers.js';
import { clusterNodes, redisUrl } from '../support/redis-store.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
/** More than a plan may be late. */
const LATE_MS = 3_000;

describeRedis('A connection of a $name store', ['redis', 'redis-cluster'], (bench) => {
  it('reloads scripts after the server has lost them', async () => {
    const sessions = new SessionService({ storage: bench().storage() });
    await sessions.createSession(KEY);
    await bench().everywhere('SCRIPT', 'FLUSH');
    expect((await sessions.appendEvent({ session: SESSION, event: { author: 'user' } })).seq).toBe(1);
    await bench().everywhere('SCRIPT', 'FLUSH');
    expect((await sessions.getSession(KEY))?.version).toBe(1);
  });

  it('neither closes nor changes the client of an app', async () => {
    const client = bench().client();
    if (client.status !== 'ready') await once(client, 'ready');
    const storage = bench().storage({ client });
    const sessions = new SessionService({ storage });
    await sessions.createSession(KEY);
    await sessions.close();
    expect(client.status).toBe('ready');
    expect(client.listenerCount('error')).toBe(0);
    expect(await client.get(`${bench().prefix}nothing`)).toBeNull();
    await expect(sessions.getSession(KEY)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', outcomeUnknown: false });
  });

  it('can be closed twice, and before it was opened', async () => {
    const unused = bench().storage();
    await unused.close();
    await unused.close();
    const storage = bench().storage();
    await storage.open();
    await Promise.all([storage.close(), storage.close()]);
    await expect(storage.read({ key: KEY })).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  it('is restored after the client has ended, as it may do behind Sentinel', async () => {
    const keys = new RedisKeys(bench().prefix);
    const where = bench().name === 'redis' ? { url: redisUrl } : { cluster: clusterNodes() };
    const connection = new RedisConnection({ ...where, prefix: bench().prefix }, keys, ALL_SCRIPTS);
    const apps = (): Promise<unknown> => connection.read(LIST_APPS, { keys: [keys.apps], args: [] });
    expect(await apps()).toEqual([]);
    connection.client.disconnect();
    await once(connection.client, 'end');
    expect(await retryUntilSuccess(apps)).toEqual([]);
    await connection.close();
    await expect(apps()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  it('serves many calls that start before it is ready', async () => {
    const sessions = new SessionService({ storage: bench().storage() });
    const ids = Array.from({ length: 50 }, (_, index) => `s-${index}`);
    const warnings: unknown[] = [];
    const listen = (warning: Error): unknown => warnings.push(warning);
    process.on('warning', listen);
    const created = await Promise.all(ids.map((sessionId) => sessions.createSession({ ...KEY, sessionId })));
    process.off('warning', listen);
    expect(created).toHaveLength(ids.length);
    expect(warnings).toEqual([]);
  });

  it('does not acknowledge a write that reached too few replicas', async () => {
    const storage = bench().storage({ waitReplicas: { count: 1, timeoutMs: 50 } });
    const sessions = new SessionService({ storage });
    await expect(sessions.createSession(KEY)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      outcomeUnknown: true,
      message: expect.stringContaining('0 of 1 replicas') as string,
    });
    const careless = new SessionService({ storage: bench().storage({ waitReplicas: { count: 0, timeoutMs: 50 } }) });
    expect((await careless.appendEvent({ session: SESSION, event: { author: 'user' } })).seq).toBe(1);
  });

  it('plans a creation again that came too late, before it asks how many replicas have it', async () => {
    const sessions = new SessionService({ storage: bench().storage({ waitReplicas: { count: 1, timeoutMs: 50 } }) });
    const create = (sessionId: string): Promise<unknown> =>
      sessions.createSession({ ...KEY, sessionId }).catch((error: unknown) => error);
    await create('first');
    const { now } = performance;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now.call(performance) - LATE_MS);
    const refused = await create('late');
    clock.mockRestore();
    expect(refused).toMatchObject({ code: 'STORE_UNAVAILABLE', outcomeUnknown: true });
    const careless = new SessionService({ storage: bench().storage() });
    expect(await careless.getSession({ ...KEY, sessionId: 'late' })).toMatchObject({ version: 0 });
  });
});

describeRedis('Errors of a $name store', ['redis'], (bench) => {
  it('contain neither content nor password', async () => {
    const url = new URL(redisUrl);
    url.username = 'nobody';
    url.password = 'password-canary';
    const refused = await bench()
      .storage({ url: url.href })
      .open()
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ConfigurationError);
    expect(refused).toMatchObject({
      problems: [
        `Redis at ${url.hostname}:${url.port || 6379} refused the login (WRONGPASS): check user and password.`,
      ],
    });
    expect(inspect(refused, { depth: 10, showHidden: true, customInspect: false })).not.toMatch(/canary/);
    const sessions = new SessionService({ storage: bench().storage() });
    await sessions.createSession(KEY);
    const client = bench().client();
    for (const [key] of await bench().keys()) {
      if (key.includes(':session:')) await client.set(key, 'text instead of a record');
    }
    const event = { author: 'user', content: { role: 'user', parts: [{ text: 'content-canary' }] } };
    const failure = await sessions.appendEvent({ session: SESSION, event }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(inspect(failure, { depth: 10, showHidden: true })).not.toMatch(/canary/);
  });

  it('name host and port, but no password, when the server cannot be reached', async () => {
    const port = await freePort();
    for (const options of [
      { url: `redis://app:password-canary@127.0.0.1:${port}/2` },
      { cluster: [`redis://app:password-canary@127.0.0.1:${port}`] },
      { cluster: [{ host: '127.0.0.1', port }], connection: { password: 'password-canary' } },
      {
        connection: { sentinels: [{ host: '127.0.0.1', port }], name: 'main', sentinelPassword: 'password-canary' },
        url: undefined,
      },
    ]) {
      const storage = bench().storage({ ...options, commandTimeoutMs: 200 });
      const failure: unknown = await storage.open().catch((error: unknown) => error);
      expect(failure).toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringContaining(`127.0.0.1:${port}`) as string,
        // Remote callers do not see the address.
        publicMessage: expect.stringMatching(/^There was no connection to Redis within 200 ms/) as string,
      });
      expect(inspect(failure, { depth: 10, showHidden: true })).not.toMatch(/canary/);
    }
  });

  it('name a database that does not exist, and nothing is written to another one', async () => {
    const url = new URL(redisUrl);
    url.pathname = '/1000000';
    const storage = bench().storage({ url: url.href });
    await expect(storage.open()).rejects.toMatchObject({
      code: 'CONFIGURATION_INVALID',
      problems: [`Redis at ${url.hostname}:${url.port || 6379} has no database of this number: take a smaller one.`],
    });
    const created = new SessionService({ storage }).createSession(KEY);
    await expect(created).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', outcomeUnknown: false });
    expect(await bench().keys()).toHaveLength(0);
  });
});

describeRedis('The options of a $name store', ['redis'], (bench) => {
  it('select a database', async () => {
    const url = new URL(redisUrl);
    url.pathname = '/1';
    const storage = bench().storage({ url: url.href });
    await new SessionService({ storage }).createSession(KEY);
    expect(await bench().keys()).toHaveLength(0);
    const client = bench().client();
    await client.call('SELECT', '1');
    expect(await client.exists(`${bench().prefix}apps`)).toBe(1);
    for (const key of await client.keys(`${bench().prefix}*`)) await client.unlink(key);
  });

  it('refuse a prefix with braces', () => {
    expect(() => new RedisSessionStorage({ prefix: '{all}:' })).toThrow(InvalidInputError);
  });

  it('are also those of RedisSessionService', async () => {
    const sessions = new RedisSessionService({ url: redisUrl, prefix: bench().prefix });
    await sessions.createSession({ ...KEY, state: { 'user:name': 'Ann' } });
    expect((await sessions.getSession(KEY))?.state.get('user:name')).toBe('Ann');
    await sessions.close();
  });
});
