import type { Redis } from 'ioredis';
import { Test } from '@nestjs/testing';
import { SessionsModule } from '../../src/index.js';
import { RedisSessionStorage } from '../../src/redis.js';
import { healthOf, startHealthApp } from '../health/health-app.module.js';
import { KeptLogger } from '../module/support/kept-logger.js';
import { describeRedis } from '../support/redis-servers.js';
import { OwnServer } from './own-server.js';

const WARNING =
  'Redis removes parts of sessions when its memory is full: its maxmemory-policy is allkeys-lru. Set it to noeviction.';

describeRedis('A $name server that evicts keys', ['redis'], () => {
  let server: OwnServer;
  let admin: Redis;

  beforeEach(async () => {
    server = await OwnServer.start();
    admin = server.admin;
    await admin.config('SET', 'maxmemory', '100mb');
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await admin.call('ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '&*', '+@all', '-config');
  });
  afterEach(() => server.stop());

  const connection = { username: 'app', password: 'secret' };

  it('is named in the log at the start', async () => {
    const logger = new KeptLogger();
    const module = await Test.createTestingModule({
      imports: [SessionsModule.forRoot({ provider: 'redis', redis: { url: server.address, connection } })],
    })
      .setLogger(logger)
      .compile();
    await module.init();
    await module.close();
    expect(logger.matching(/maxmemory/)).toEqual([`warn: ${WARNING}`]);
  });

  it('is named in the health of the app, as long as it does so', async () => {
    const storage = new RedisSessionStorage({ url: server.address, connection });
    const app = await startHealthApp(storage);
    const health = async (): Promise<unknown> => (await healthOf(app)).body;
    const up = { status: 'up', read: 'up', write: 'up' };
    try {
      expect(await health()).toMatchObject({ status: 'ok', info: { sessions: { ...up, warnings: [WARNING] } } });
      await admin.config('SET', 'maxmemory-policy', 'noeviction');
      expect(await health()).toMatchObject({ info: { sessions: { ...up } } });
      expect(JSON.stringify(await health())).not.toContain('warnings');
    } finally {
      await app.close();
      await storage.close();
    }
  });

  it('says nothing if its memory has no limit, or if INFO is forbidden', async () => {
    const storage = new RedisSessionStorage({ url: server.address, connection });
    try {
      expect(await storage.warnings?.()).toEqual([WARNING]);
      await admin.config('SET', 'maxmemory', '0');
      expect(await storage.warnings?.()).toEqual([]);
      await admin.config('SET', 'maxmemory', '100mb');
      await admin.call('ACL', 'SETUSER', 'app', '-info');
      expect(await storage.warnings?.()).toEqual([]);
    } finally {
      await storage.close();
    }
  });
});
