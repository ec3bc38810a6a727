import { SessionService } from '../../src/index.js';
import type { PrivateServer } from '../servers/private-server.js';
import { startRedis } from '../servers/private-redis.js';
import { startCluster, until } from '../servers/redis-cluster.js';
import { withRedis } from '../servers/redis-login.js';
import { MASTER_NAME, startSentinel } from '../servers/redis-sentinel.js';
import type { StartedServer } from '../servers/server-kind.js';
import { retryUntilSuccess } from '../support/until.js';
import { requiredBinary } from '../support/processes/killable-stores.js';
import { describeRedis } from '../support/redis-servers.js';
import { TcpProxy } from '../support/tcp-proxy.js';

/** Enough for a call on a busy machine. */
const LIMIT_MS = 1_000;
/** Each master has the sessions of some of them. */
const USERS = Array.from({ length: 12 }, (_, index) => ({ appName: 'shop', userId: `user-${index}` }));

describeRedis('A node of a $name store that accepts connections but does not respond', ['redis-cluster'], (bench) => {
  let cluster: StartedServer;
  let proxies: TcpProxy[];

  beforeAll(async () => {
    cluster = await startCluster(requiredBinary('redis-server'));
    proxies = [];
    for (const address of addresses()) {
      const { hostname: host, port } = new URL(address);
      const proxy = await TcpProxy.start({ host, port: Number(port) });
      proxies.push(proxy);
      // Clients and other nodes connect to the proxy.
      await withRedis(address, (client) => client.config('SET', 'cluster-announce-port', proxy.port));
    }
    await until(() => Promise.all(addresses().map(knowsAllProxies)));
  });
  afterAll(async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await cluster.stop();
  });
  afterEach(() => {
    for (const proxy of proxies) {
      proxy.mode = 'pass';
      proxy.filter = () => 'pass';
      proxy.reset();
    }
  });

  function addresses(): string[] {
    return cluster.address.split(',').map((host) => `redis://${host}`);
  }

  async function knowsAllProxies(address: string): Promise<void> {
    const nodes = await withRedis(address, (client) => client.cluster('NODES'));
    for (const { port } of proxies) if (!String(nodes).includes(`:${port}@`)) throw new Error(`${port} is unknown`);
  }

  function newSessions(): SessionService {
    const nodes = proxies.map(({ port }) => ({ host: '127.0.0.1', port }));
    return new SessionService({ storage: bench().storage({ cluster: nodes, commandTimeoutMs: LIMIT_MS }) });
  }

  it('is reconnected when it responds again, after all nodes were dead before the first connection', async () => {
    for (const proxy of proxies) proxy.mode = 'black hole';
    const sessions = newSessions();
    const ports = proxies.map(({ port }) => `127.0.0.1:${port}`).join(', ');
    for (let call = 1; call <= 5; call++) {
      await expect(createAll(sessions)).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringContaining(`Redis Cluster at ${ports}`) as string,
      });
    }
    for (const proxy of proxies) proxy.mode = 'pass';
    await retryUntilSuccess(() => createAll(sessions));
    await sessions.close();
  });

  it.each([0, 1, 2])(
    'is reconnected when it responds again, while other nodes responded all the time: %i',
    async (place) => {
      const sessions = newSessions();
      await retryUntilSuccess(() => createAll(sessions));
      const proxy = proxies[place];
      if (!proxy) throw new Error('There is no such node');
      proxy.mode = 'black hole';
      const calls = await Promise.allSettled(USERS.map((user) => sessions.getUserState(user)));
      expect(new Set(calls.map(({ status }) => status))).toEqual(new Set(['fulfilled', 'rejected']));
      // The other nodes respond; reconnects to this one fail.
      for (let round = 1; round <= 3; round++) {
        await Promise.allSettled(USERS.map((user) => sessions.getUserState(user)));
      }
      proxy.mode = 'pass';
      await retryUntilSuccess(() => Promise.all(USERS.map((user) => sessions.getUserState(user))));
      await sessions.close();
    },
  );

  it.each(['CLUSTER', 'role:master'])('is reconnected after the response to %s was lost', async (word) => {
    const dead = new Set<string>();
    for (const [place, proxy] of proxies.entries()) {
      proxy.filter = ({ connection, data }) => {
        const name = `${place} ${connection}`;
        if (data.toString('latin1').toUpperCase().includes(word.toUpperCase())) dead.add(name);
        return dead.has(name) ? 'drop' : 'pass';
      };
    }
    const sessions = newSessions();
    for (let call = 1; call <= 3; call++) await expect(createAll(sessions)).rejects.toThrow();
    for (const proxy of proxies) proxy.filter = () => 'pass';
    await retryUntilSuccess(() => createAll(sessions));
    await sessions.close();
  });
});

/** Uses all masters. */
async function createAll(sessions: SessionService): Promise<void> {
  await Promise.all(USERS.map((user) => sessions.getOrCreateSession({ ...user, sessionId: 's' })));
}

describeRedis('A Sentinel of a $name store that accepts connections but does not respond', ['redis'], (bench) => {
  let servers: PrivateServer[] = [];
  let proxy: TcpProxy;

  afterEach(async () => {
    await proxy.stop();
    await Promise.all(servers.map((server) => server.stop()));
  });

  it('is skipped for another one, and used again when it responds', async () => {
    const command = requiredBinary('redis-server');
    const master = await startRedis(command);
    servers = [master];
    const sentinel = await startSentinel(command, new URL(master.address));
    servers.push(sentinel);
    const { hostname: host, port } = new URL(sentinel.address);
    proxy = await TcpProxy.start({ host, port: Number(port) });
    const [silent, other] = [
      { host: '127.0.0.1', port: proxy.port },
      { host, port: Number(port) },
    ];
    const open = (sentinels: (typeof silent)[]): SessionService => {
      const connection = { sentinels, name: MASTER_NAME };
      return new SessionService({
        storage: bench().storage({ url: undefined, connection, commandTimeoutMs: LIMIT_MS }),
      });
    };
    proxy.mode = 'black hole';
    const user = { appName: 'shop', userId: 'ann' };
    const both = open([silent, other]);
    await retryUntilSuccess(() => both.getOrCreateSession({ ...user, sessionId: 's' }));
    const one = open([silent]);
    for (let call = 1; call <= 3; call++) {
      await expect(one.getSession({ ...user, sessionId: 's' })).rejects.toThrow(
        `Redis, the master "${MASTER_NAME}" of the Sentinels at 127.0.0.1:${proxy.port}, within`,
      );
    }
    proxy.mode = 'pass';
    expect(await retryUntilSuccess(() => one.getSession({ ...user, sessionId: 's' }))).toMatchObject({ id: 's' });
  });
});
