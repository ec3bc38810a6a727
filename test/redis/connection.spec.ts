import { once } from 'node:events';
import { inspect } from 'node:util';
import { ConfigurationError, InvalidInputError, SessionService } from '../../src/index.js';
import { RedisSessionService, RedisSessionStorage } from '../../src/redis.js';
import { describeRedis } from '../support/redis-servers.js';
import { redisUrl } from '../support/redis-store.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };

describeRedis('A connection of a $name store', ['redis', 'redis-cluster'], (bench) => {
  it('loads scripts again that the server forgot', async () => {
    const sessions = new SessionService({ storage: bench().storage() });
    await sessions.createSession(KEY);
    await bench().everywhere('SCRIPT', 'FLUSH');
    expect((await sessions.appendEvent({ session: SESSION, event: { author: 'user' } })).seq).toBe(1);
    await bench().everywhere('SCRIPT', 'FLUSH');
    expect((await sessions.getSession(KEY))?.version).toBe(1);
  });

  it('leaves a client alone that it was given', async () => {
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

  it('is closed once, however often it is asked to, and also before it was opened', async () => {
    const unused = bench().storage();
    await unused.close();
    await unused.close();
    const storage = bench().storage();
    await storage.open();
    await Promise.all([storage.close(), storage.close()]);
    await expect(storage.read({ key: KEY })).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  it('serves many calls that come before it is there', async () => {
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

  it('acknowledges no write that too few replicas have', async () => {
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
});

describeRedis('What a $name store says about errors', ['redis'], (bench) => {
  it('holds neither content nor password', async () => {
    const url = new URL(redisUrl);
    url.username = 'nobody';
    url.password = 'password-canary';
    const refused = await bench()
      .storage({ url: url.href, commandTimeoutMs: 300 })
      .open()
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ConfigurationError);
    expect(refused).toMatchObject({ problems: ['Redis refused the login (WRONGPASS): check user and password.'] });
    expect(inspect(refused, { depth: 10, showHidden: true })).not.toMatch(/canary/);
    const sessions = new SessionService({ storage: bench().storage() });
    await sessions.createSession(KEY);
    const client = bench().client();
    for (const [key] of await bench().keys()) {
      if (key.includes(':session:')) await client.set(key, 'text in the place of a record');
    }
    const event = { author: 'user', content: { role: 'user', parts: [{ text: 'content-canary' }] } };
    const failure = await sessions.appendEvent({ session: SESSION, event }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(inspect(failure, { depth: 10, showHidden: true })).not.toMatch(/canary/);
  });

  it('names a database that the server does not have, and writes to no other', async () => {
    const url = new URL(redisUrl);
    url.pathname = '/1000000';
    const storage = bench().storage({ url: url.href });
    await expect(storage.open()).rejects.toMatchObject({
      code: 'CONFIGURATION_INVALID',
      problems: ['Redis has no database of this number: take a smaller one.'],
    });
    const created = new SessionService({ storage }).createSession(KEY);
    await expect(created).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', outcomeUnknown: false });
    expect(await bench().keys()).toHaveLength(0);
  });

  it('keeps to the database that it was given', async () => {
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

  it('refuses a prefix that would choose the slot of keys', () => {
    expect(() => new RedisSessionStorage({ prefix: '{all}:' })).toThrow(InvalidInputError);
  });

  it('comes with a service of its own', async () => {
    const sessions = new RedisSessionService({ url: redisUrl, prefix: bench().prefix });
    await sessions.createSession({ ...KEY, state: { 'user:name': 'Ann' } });
    expect((await sessions.getSession(KEY))?.state.get('user:name')).toBe('Ann');
    await sessions.close();
  });
});
