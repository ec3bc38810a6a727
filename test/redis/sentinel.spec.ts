import { SessionService } from '../../src/index.js';
import { startRedis } from '../servers/private-redis.js';
import type { PrivateServer } from '../servers/private-server.js';
import { until } from '../servers/redis-cluster.js';
import { MASTER_NAME, startSentinel } from '../servers/redis-sentinel.js';
import { withRedis } from '../servers/redis-login.js';
import { requiredBinary } from '../support/processes/killable-stores.js';
import { describeRedis } from '../support/redis-servers.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
describeRedis('A $name store behind Sentinel', ['redis'], (bench) => {
  let servers: PrivateServer[];

  afterEach(() => Promise.all(servers.map((server) => server.stop())));

  it('writes to the master that Sentinel names, and reconnects after a restart', async () => {
    const command = requiredBinary('redis-server');
    const master = await startRedis(command, { durable: true });
    servers = [master];
    const sentinel = await startSentinel(command, new URL(master.address));
    servers.push(sentinel);
    const { hostname: host, port } = new URL(sentinel.address);
    const connection = { sentinels: [{ host, port: Number(port) }], name: MASTER_NAME };
    const sessions = new SessionService({ storage: bench().storage({ url: undefined, connection }) });
    await sessions.createSession(KEY);
    await sessions.appendEvent({ session: SESSION, event: { id: 'e-1', author: 'user' } });
    expect(await bench().keys()).toEqual([]);
    const keys = await withRedis(master.address, (client) => client.keys(`${bench().prefix}*`));
    expect(keys.length).toBeGreaterThan(0);

    await master.kill();
    await master.restart();
    await until(() => sessions.appendEvent({ session: SESSION, event: { id: 'e-2', author: 'user' } }));
    expect((await sessions.getSession(KEY))?.events.map(({ id }) => id)).toEqual(['e-1', 'e-2']);
  });
});
