import type { INestApplication } from '@nestjs/common';
import { HealthIndicatorService } from '@nestjs/terminus';
import { Redis } from 'ioredis';
import { SessionsHealth } from '../../src/health/index.js';
import { InMemorySessionStorage } from '../../src/index.js';
import { RedisSessionStorage } from '../../src/redis.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { KeptLogger } from '../module/support/kept-logger.js';
import { newPrefix, redisUrl, removeKeys } from '../support/redis-store.js';
import { chosenStoreNames } from '../support/store-names.js';
import { storeOfEachKind } from '../support/stores.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { healthOf, startHealthApp } from './health-app.module.js';

const never = (): Promise<never> => new Promise<never>(() => undefined);

describe('SessionsHealth', () => {
  let app: INestApplication | undefined;
  afterEach(async () => {
    await app?.close();
    app = undefined;
  });

  it.each([
    ['read', { readState: never }, { read: 'down', write: 'up' }],
    ['write', { entries: { write: never } }, { read: 'up', write: 'down' }],
  ])('reports in time that each %s hangs', async (_what, broken, words) => {
    app = await startHealthApp(Object.assign(new InMemorySessionStorage(), broken), { timeLimitMs: 200 });
    const { status, body } = await healthOf(app);
    expect(status).toBe(503);
    const sessions = {
      status: 'down',
      ...words,
      message: 'There was no answer within 200 ms.',
      code: 'STORE_UNAVAILABLE',
    };
    expect(body).toMatchObject({ status: 'error', error: { sessions } });
  });

  it.each([
    ...[{ timeLimit: 1 }, { timeLimitMS: 1 }].map((options) => ({ options, problem: 'is no option' })),
    ...['2s', -1, 0, NaN, Infinity, 3e9].map((timeLimitMs) => ({
      options: { timeLimitMs },
      problem: 'it must be a whole number from 1 to 2147483647',
    })),
  ])('refuses $options, by which its limit would be another one', async ({ options, problem }) => {
    const health = new SessionsHealth(new HealthIndicatorService(), new InMemorySessionStorage());
    await expect(health.isHealthy('sessions', options as never)).rejects.toThrow(problem);
  });

  it('has one pending call at a time while the store hangs, and reports when the store responds again', async () => {
    const storage = new InMemorySessionStorage();
    const readState = jest.spyOn(storage, 'readState').mockImplementation(never);
    const logger = new KeptLogger();
    app = await startHealthApp(storage, { logger });
    const health = app.get(SessionsHealth);
    const check = async (): Promise<string> =>
      (await health.isHealthy('sessions', { timeLimitMs: 50 })).sessions.status;
    expect(await Promise.all([check(), check(), check()])).toEqual(['down', 'down', 'down']);
    expect(readState).toHaveBeenCalledTimes(1);
    expect(await check()).toBe('down');
    readState.mockRestore();
    expect([await check(), await check()]).toEqual(['up', 'up']);
    expect(logger.matching(/store of the sessions/)).toEqual([
      'error: The store of the sessions does not read: There was no answer within 50 ms.',
      'log: The store of the sessions answers again.',
    ]);
  });

  it('hides the message of an unknown error, and logs it', async () => {
    const storage = new InMemorySessionStorage();
    jest.spyOn(storage, 'readState').mockRejectedValue(new Error('no way to redis://ann:secret@host'));
    app = await startHealthApp(storage);
    const { status, text } = await healthOf(app);
    expect(status).toBe(503);
    expect(text).toContain('It failed; the log says why.');
    expect(text).not.toContain('secret');
  });

  it('is down from the start of the shutdown', async () => {
    app = await startHealthApp(new InMemorySessionStorage());
    expect((await healthOf(app)).status).toBe(200);
    app.get(SessionsHealth).beginClosing();
    const { status, body } = await healthOf(app);
    expect(status).toBe(503);
    expect(body).toMatchObject({ error: { sessions: { status: 'down', message: 'The app is closing.' } } });
  });

  for (const store of storeOfEachKind) {
    describe(`with ${store.name}`, () => {
      let open: OpenStorage;
      beforeEach(async () => {
        open = await store.open({});
        app = await startHealthApp(open.storage);
      });
      afterEach(async () => {
        await app?.close();
        await open.destroy();
      });

      it('is up and stores nothing', async () => {
        const write = jest.spyOn(open.storage.entries, 'write');
        expect(await healthOf(app as INestApplication)).toMatchObject({
          status: 200,
          body: { status: 'ok', info: { sessions: { status: 'up', read: 'up', write: 'up' } } },
        });
        expect(await Promise.all(write.mock.results.map(({ value }) => value))).toMatchObject([
          { kind: 'written' },
          { kind: 'written' },
        ]);
        const { sessions, stateEntries, text } = await open.raw();
        expect({ sessions, stateEntries }).toEqual({ sessions: 0, stateEntries: 0 });
        expect(text).not.toContain('health');
      });

      it('is down when the store is closed', async () => {
        await open.storage.close();
        const { status, body } = await healthOf(app as INestApplication);
        expect(status).toBe(503);
        expect(body).toMatchObject({ error: { sessions: { read: 'down', write: 'down', code: 'STORE_UNAVAILABLE' } } });
      });
    });
  }

  if (chosenStoreNames().includes('redis')) {
    it('reports in time that a server drops all packets', async () => {
      const { hostname: host, port } = new URL(redisUrl);
      const proxy = await TcpProxy.start({ host, port: Number(port) || 6379 });
      const url = `redis://127.0.0.1:${proxy.port}`;
      const prefix = newPrefix();
      const storage = new RedisSessionStorage({ url, prefix, commandTimeoutMs: 30_000 });
      app = await startHealthApp(storage);
      expect((await healthOf(app)).status).toBe(200);
      proxy.mode = 'black hole';
      const { sessions } = await app.get(SessionsHealth).isHealthy('sessions', { timeLimitMs: 200 });
      // The time limit of the check applies, not the longer one of the store.
      expect(sessions).toMatchObject({ status: 'down', message: 'There was no answer within 200 ms.' });
      await proxy.stop();
      await storage.close();
      const admin = new Redis(redisUrl);
      await removeKeys([admin], prefix);
      await admin.quit();
    });
  }
});
