import { existsSync } from 'node:fs';
import { createConnection } from 'mysql2/promise';
import { Client } from 'pg';
import { binaryFolders } from './binaries.js';
import { findServer } from './find-server.js';
import { mariadb } from './mariadb.js';
import { mysqlOptionsOf } from './mysql-login.js';
import { postgres } from './postgres.js';
import { ProvidedServers } from './provided-servers.js';
import { redisCluster } from './redis-cluster.js';
import { withRedis } from './redis-login.js';
import { redis } from './redis.js';
import type { ServerKind, StartedServer } from './server-kind.js';

interface StartableServer {
  readonly store: string;
  readonly kind: ServerKind;
  start(): Promise<StartedServer>;
}

const kinds: readonly (readonly [store: string, kind: ServerKind])[] = [
  ['redis', redis],
  ['redis-cluster', redisCluster],
  ['mariadb', mariadb],
  ['postgres', postgres],
];

/** The servers of the chosen stores whose programs are installed. A server can also be remote. */
const startable = kinds.flatMap(([store, kind]): StartableServer[] => {
  const { STORES: stores } = process.env;
  const start = kind.starter(binaryFolders());
  const isWanted = !stores || stores.split(',').some((name) => name.trim() === store);
  return start && isWanted ? [{ store, kind, start }] : [];
});

/** Each returns an address whose user has no rights. */
const restrictedLogins = new Map<ServerKind, (address: string) => Promise<string>>([
  [
    redis,
    async (address) => {
      await withRedis(address, (client) => client.config('SET', 'requirepass', 'secret'));
      return address;
    },
  ],
  [
    mariadb,
    async (address) => {
      const connection = await createConnection(mysqlOptionsOf(address));
      await connection.query(`CREATE USER 'clerk'@'127.0.0.1'`);
      await connection.end();
      return address.replace('root@', 'clerk@');
    },
  ],
  [
    postgres,
    async (address) => {
      const client = new Client({ connectionString: address });
      await client.connect();
      await client.query('CREATE ROLE clerk LOGIN');
      await client.end();
      return address.replace('postgres@', 'clerk@');
    },
  ],
]);

describe('ProvidedServers', () => {
  it('sets the environment, prints the servers, and stops them', async () => {
    const env: NodeJS.ProcessEnv = { TEST_SERVERS: 'private' };
    const lines: string[] = [];
    const [first] = startable;
    const stores = ['memory', ...(first ? [first.store] : [])];
    const servers = await ProvidedServers.for(stores, { env, binaryFolders }, (line) => lines.push(line));

    if (first) {
      const { name, variable, check } = first.kind;
      const address = String(env[variable]);
      expect(lines).toEqual([`${name} ${await check(address)}: ${address} (started for this run)`]);
      await servers.stop();
      await expect(check(address)).rejects.toThrow();
    }
  });
});

let servers: ReadonlyMap<ServerKind, StartedServer> = new Map();

beforeAll(async () => {
  const entries = startable.map(async ({ kind, start }) => [kind, await start()] as const);
  servers = new Map(await Promise.all(entries));
});

afterAll(async () => {
  await Promise.all([...servers.values()].map((server) => server.stop()));
});

for (const { kind } of startable) {
  describe(`a private ${kind.name}`, () => {
    it('is found by its address', async () => {
      const { address } = started(kind);
      const machine = { binaryFolders: () => [] };
      const named = await findServer(kind, { ...machine, env: { [kind.variable]: address } });
      const running = await findServer({ ...kind, usualAddresses: [address] }, { ...machine, env: {} });

      expect(named.origin).toBe('named in the environment');
      expect(running.origin).toBe('already running');
      expect(running.version).toMatch(/^\d+\.\d+/);
    });

    const restrictLogin = restrictedLogins.get(kind);
    if (restrictLogin) {
      it('fails the check for a user without rights', async () => {
        const address = await restrictLogin(started(kind).address);

        await expect(kind.check(address)).rejects.toThrow(/NOAUTH|Access denied|may not create databases/);
      });
    }

    it('restarts at the same address after a kill', async () => {
      const { address, processes } = started(kind);
      for (const process of processes) {
        await process.kill();
        await expect(kind.check(address)).rejects.toThrow();
        await process.restart();
      }
    });

    it('removes its files when it is stopped', async () => {
      const server = started(kind);
      const { address, processes } = server;
      await server.stop();

      await expect(kind.check(address)).rejects.toThrow();
      expect(processes.filter(({ folder }) => existsSync(folder))).toEqual([]);
    });
  });
}

function started(kind: ServerKind): StartedServer {
  const server = servers.get(kind);
  if (!server) throw new Error(`There is no ${kind.name}`);
  return server;
}
