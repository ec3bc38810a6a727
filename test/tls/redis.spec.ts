import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { ConfigurationError } from '../../src/index.js';
import { sessionsFromEnvironment } from '../../src/config/index.js';
import { RedisSessionStorage, type RedisSessionStorageOptions } from '../../src/redis.js';
import { checkModuleOptions } from '../../src/config/check-options.js';
import { redisStorageOf } from '../../src/sessions/storage/redis/redis-session-storage.js';
import { startRedis } from '../servers/private-redis.js';
import { PrivateServer } from '../servers/private-server.js';
import { until } from '../servers/redis-cluster.js';
import { MASTER_NAME } from '../servers/redis-sentinel.js';
import { requiredBinary } from '../support/processes/killable-stores.js';
import { describeChosen } from '../support/processes/shared-stores.js';
import { Certificates } from './certificates.js';
import { openingError, useStore } from './observed-store.js';

const PASSWORD = 'hunter2';

let certificates: Certificates;
let ca: string;
let servers: PrivateServer[];

beforeAll(async () => {
  certificates = await Certificates.create();
  ca = await certificates.text('ca.pem');
});
beforeEach(() => (servers = []));
afterEach(async () => {
  for (const server of servers.toReversed()) await server.stop();
});
afterAll(() => certificates.remove());

/** Uses an admin connection, independent of the store. */
async function withAdmin<Result>(address: string, use: (client: Redis) => Promise<Result>): Promise<Result> {
  const client = new Redis(address, { tls: { ca }, lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await use(client);
  } finally {
    client.disconnect();
  }
}

/** A Redis that accepts only TLS. */
async function startSecure(...args: readonly string[]): Promise<PrivateServer> {
  const files = ['cert', 'key', 'ca-cert'].flatMap((part) => [
    `--tls-${part}-file`,
    certificates.path({ cert: 'server.pem', key: 'server.key' }[part] ?? 'ca.pem'),
  ]);
  const server = await startRedis(requiredBinary('redis-server'), {
    args: [...files, '--tls-auth-clients', 'optional', ...args],
    isEncrypted: true,
    check: (address) => withAdmin(address, (client) => client.call('ACL', 'WHOAMI')),
  });
  servers.push(server);
  return server;
}

const storage = (options: RedisSessionStorageOptions): RedisSessionStorage => new RedisSessionStorage(options);
const plain = ({ address }: PrivateServer): string => address.replace('rediss:', 'redis:');

describeChosen('a $name store with TLS', [{ name: 'redis' as const }], () => {
  it('encrypts and verifies the server with the given certificate authority', async () => {
    const { address } = await startSecure();
    await useStore(storage({ url: address, tls: { ca } }));
    await useStore(storage({ url: address.replace('rediss:', 'redis:'), tls: { ca } }));
  });

  it('verifies the server with rediss:// alone, and says what to do if that fails', async () => {
    const { address } = await startSecure();
    const error = await openingError(storage({ url: address.replace('//', `//:${PASSWORD}@`) }));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toMatch(/The certificate of Redis at 127.0.0.1:\d+ cannot be verified .*no-verify/);
    expect(error.message).not.toContain(PASSWORD);
  });

  it('refuses a certificate for another host, unless verify is ca', async () => {
    const url = (await startSecure()).address.replace('127.0.0.1', 'localhost');
    const error = await openingError(storage({ url, tls: { ca } }));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toContain('it is for another host');
    await useStore(storage({ url, tls: { ca, verify: 'ca' } }));
    await useStore(storage({ url, tls: 'no-verify' }));
  });

  it('presents its own certificate if the server requires one', async () => {
    const { address } = await startSecure();
    await withAdmin(address, (client) => client.config('SET', 'tls-auth-clients', 'yes'));
    const [cert, key] = [await certificates.text('client.pem'), await certificates.text('client.key')];
    await useStore(storage({ url: address, tls: { ca, cert, key } }));
  });

  it('can be configured with variables', async () => {
    const server = await startSecure();
    for (const SESSIONS_REDIS_URL of [server.address, plain(server)]) {
      const variables = {
        SESSIONS_REDIS_URL,
        SESSIONS_REDIS_TLS: 'verify',
        SESSIONS_REDIS_TLS_CA: certificates.path('ca.pem'),
      };
      const config = sessionsFromEnvironment(variables);
      checkModuleOptions(config);
      if (config.provider !== 'redis' || !config.redis) throw new Error('Another store was chosen');
      await useStore(redisStorageOf(config.redis, undefined));
    }
  });

  it('refuses a server without TLS', async () => {
    const server = await startRedis(requiredBinary('redis-server'));
    servers.push(server);
    const url = server.address.replace('redis:', 'rediss:');
    await expect(openingError(storage({ url, tls: 'no-verify' }))).resolves.toBeInstanceOf(Error);
  });

  it('encrypts connections to Sentinels and to their master', async () => {
    const master = await startSecure();
    const sentinel = await startSecureSentinel(master);
    const { hostname: host, port } = new URL(sentinel.address);
    const connection = { sentinels: [{ host, port: Number(port) }], name: MASTER_NAME };
    await useStore(storage({ connection, tls: { ca } }));
    // With the TLS options of ioredis for Sentinels, ioredis alone would connect to the master in plain text.
    await useStore(storage({ connection: { ...connection, tls: { ca }, sentinelTLS: { ca } } }));
    const error = await openingError(storage({ connection, tls: true, commandTimeoutMs: 500 }));
    expect(error.message).toContain('or its certificate cannot be verified');
  });

  it('encrypts connections to every node of a cluster', async () => {
    const announce = ['--cluster-announce-ip', '127.0.0.1'];
    const node = await startSecure('--cluster-enabled', 'yes', '--tls-cluster', 'yes', ...announce);
    await withAdmin(node.address, (client) => client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383'));
    await until(async () => {
      const info = await withAdmin(node.address, (client) => client.cluster('INFO'));
      if (!info.includes('cluster_state:ok')) throw new Error(info);
    });
    const { hostname: host, port } = new URL(node.address);
    await useStore(storage({ cluster: [{ host, port: Number(port) }], tls: { ca } }));
    const url = `rediss-cluster://${host}:${port}`;
    const config = sessionsFromEnvironment({
      SESSIONS_REDIS_URL: url,
      SESSIONS_REDIS_TLS_CA: certificates.path('ca.pem'),
    });
    if (config.provider !== 'redis' || !config.redis) throw new Error('Another store was chosen');
    await useStore(redisStorageOf(config.redis, undefined));
    const error = await openingError(storage({ cluster: [node.address], commandTimeoutMs: 500 }));
    expect(error.message).toContain('or its certificate cannot be verified');
  });
});

async function startSecureSentinel(master: PrivateServer): Promise<PrivateServer> {
  const command = requiredBinary('redis-server');
  const sentinel = await PrivateServer.start({
    addressAt: (port) => `rediss://127.0.0.1:${port}`,
    program: (folder, port) => {
      const file = join(folder, 'sentinel.conf');
      const settings = [
        `port 0\ntls-port ${port}\nbind 127.0.0.1\ndir ${folder}`,
        `tls-cert-file ${certificates.path('server.pem')}\ntls-key-file ${certificates.path('server.key')}`,
        `tls-ca-cert-file ${certificates.path('ca.pem')}\ntls-auth-clients no\ntls-replication yes\n`,
      ];
      writeFileSync(file, settings.join('\n'));
      return { command, args: [file, '--sentinel'], stopSignal: 'SIGTERM' };
    },
    check: (address) => withAdmin(address, (client) => client.ping()),
  });
  servers.push(sentinel);
  const { hostname, port } = new URL(master.address);
  await withAdmin(sentinel.address, (client) => client.call('SENTINEL', 'MONITOR', MASTER_NAME, hostname, port, '1'));
  return sentinel;
}
