import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { ConfigurationError, SessionService } from '../../src/index.js';
import { type RedisSessionStorage, RedisSessionService } from '../../src/redis.js';
import { ManualClock } from '../../src/testing/index.js';
import { describeRedis } from '../support/redis-servers.js';
import { redisUrl } from '../support/redis-store.js';
import { OwnServer } from './own-server.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
const EVENT = { id: 'e-1', author: 'user', content: { role: 'user', parts: [{ text: 'Hi' }] } };
const PASSWORD = 'very-secret';

describeRedis('A $name user with too few permissions', ['redis'], (bench) => {
  let admin: Redis;
  let username: string;

  beforeEach(async () => {
    admin = new Redis(redisUrl);
    username = `u-${randomUUID()}`;
    await allow('~*', '&*', '+@all');
  });
  afterEach(async () => {
    await admin.call('ACL', 'DELUSER', username);
    admin.disconnect();
  });

  it.each([
    ['ZADD', ['-zadd']],
    ['PERSIST, PEXPIREAT', ['-persist', '-pexpireat']],
    ['EVALSHA, EVAL', ['-@scripting']],
    ['EVALSHA, EVAL', ['resetkeys', '~others:*']],
  ])('gets an error that names the missing commands, before any write: %s', async (missing, rules) => {
    await allow(...rules);
    const storage = limitedStorage();
    const message = `The user of Redis may not run ${missing} with keys that begin with "${bench().prefix}": grant it.`;
    await expect(storage.open()).rejects.toMatchObject({ problems: [message] });
    const sessions = new SessionService({ storage });
    await expect(sessions.createSession(KEY)).rejects.toBeInstanceOf(ConfigurationError);
    expect(await bench().keys()).toEqual([]);
    await allow('~*', '+@all');
    expect(await sessions.createSession(KEY)).toMatchObject({ version: 0 });
  });

  it('gets the same error with the client of an app', async () => {
    await allow('-hset');
    const client = new Redis(redisUrl, { username, password: PASSWORD, keyPrefix: bench().prefix });
    const sessions = new RedisSessionService({ client });
    await expect(sessions.createSession(KEY)).rejects.toThrow('may not run HSET');
    client.disconnect();
  });

  it('loses no event when a permission is removed later', async () => {
    const sessions = new SessionService({ storage: limitedStorage() });
    await sessions.createSession(KEY);
    await allow('-zadd');
    const append = (): Promise<unknown> => sessions.appendEvent({ session: SESSION, event: EVENT });
    for (let time = 1; time <= 2; time++) {
      await expect(append()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', outcomeUnknown: true });
    }
    await allow('+@all');
    expect(await append()).toMatchObject({ seq: 1 });
    expect(await sessions.appendEvent({ session: SESSION, event: { author: 'user' } })).toMatchObject({ seq: 2 });
    const { events } = await sessions.listEvents(KEY);
    expect(events.map(({ id }) => id)).toEqual(['e-1', expect.any(String)]);
  });

  function allow(...rules: string[]): Promise<unknown> {
    return admin.call('ACL', 'SETUSER', username, 'on', `>${PASSWORD}`, ...rules);
  }

  function limitedStorage(): RedisSessionStorage {
    return bench().storage({ connection: { username, password: PASSWORD } });
  }
});

describeRedis('A $name server without free memory', ['redis'], () => {
  let server: OwnServer;
  let admin: Redis;

  beforeEach(async () => {
    server = await OwnServer.start();
    admin = server.admin;
  });
  afterEach(() => server.stop());

  it('refuses writes with an error that names the reason', async () => {
    const sessions = new RedisSessionService({ url: server.address });
    try {
      const session = await sessions.createSession(KEY);
      await sessions.appendEvent({ session, event: EVENT });
      await admin.config('SET', 'maxmemory', '1mb');
      const { appName, userId } = KEY;
      const writes = [
        () => sessions.appendEvent({ session, event: { author: 'user' } }),
        () => sessions.createSession({ ...KEY, sessionId: 's-2', state: { 'app:name': 'Shop' } }),
        () => sessions.forkSession({ ...KEY, newSessionId: 's-3' }),
        () => sessions.updateUserState({ appName, userId, stateDelta: { name: 'Ann' } }),
        () => sessions.updateAppState({ appName, stateDelta: { name: 'Shop' } }),
      ];
      const keys = await admin.keys('*');
      for (const write of writes) {
        await expect(write()).rejects.toMatchObject({
          code: 'STORE_UNAVAILABLE',
          outcomeUnknown: false,
          message: expect.stringContaining('(OOM: its memory is full)') as string,
        });
      }
      expect(await admin.keys('*')).toHaveLength(keys.length);
      expect(await sessions.getSession(KEY)).toMatchObject({ version: 1 });
      await sessions.deleteSession(KEY);
      await admin.config('SET', 'maxmemory', '0');
      expect(await writes[1]?.()).toMatchObject({ version: 0 });
    } finally {
      await sessions.close();
    }
  });

  it('still serves reads that cannot renew the expiry', async () => {
    const clock = new ManualClock();
    const ttl = { enabled: true, sessionSeconds: 100, userStateSeconds: 100, appStateSeconds: 100 };
    const failures: unknown[] = [];
    const onBackgroundError = (error: unknown): unknown => failures.push(error);
    const sessions = new RedisSessionService({ url: server.address, clock, ttl, onBackgroundError });
    try {
      await sessions.createSession({ ...KEY, state: { step: 1, 'user:name': 'Ann', 'app:name': 'Shop' } });
      await admin.config('SET', 'maxmemory', '1mb');
      clock.advanceSeconds(90);
      expect(await sessions.getSession(KEY)).toMatchObject({ version: 0, state: { step: 1 } });
      expect(await sessions.getUserState(KEY)).toEqual({ name: 'Ann' });
      expect(await sessions.getAppState(KEY)).toEqual({ name: 'Shop' });
      await sessions.whenIdle();
      expect(failures).toEqual([expect.objectContaining({ code: 'STORE_UNAVAILABLE' })]);
    } finally {
      await sessions.close();
    }
  });
});

describeRedis('A $name client of an app with stringNumbers', ['redis'], (bench) => {
  it('counts purged sessions and states', async () => {
    const client = new Redis(redisUrl, { stringNumbers: true });
    const time = { now: Date.now() };
    const storage = bench().storage({ client, clock: { now: () => time.now } });
    const ttl = { enabled: true, sessionSeconds: 1, userStateSeconds: 1, appStateSeconds: 1 };
    const sessions = new SessionService({ storage, ttl });
    await sessions.createSession({ ...KEY, state: { 'user:name': 'Ann', 'app:name': 'Shop' } });
    time.now += 2_000;
    expect(await sessions.purgeExpired()).toEqual({ sessions: 1, userStates: 1, appStates: 1 });
    client.disconnect();
  });
});
