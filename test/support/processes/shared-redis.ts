import { Redis } from 'ioredis';
import { type NodeAddress, newPrefix, removeKeys } from '../redis-store.js';
import { until } from '../until.js';
import { redisProblems } from './redis-integrity.js';
import type { SharedStore } from './shared-stores.js';
import type { RedisClusterDescription, RedisDescription } from './store-description.js';

type Settings = Pick<RedisDescription, 'commandTimeoutMs' | 'waitReplicas' | 'connection'>;

/** A store on a single Redis with its own prefix. */
export function sharedRedis(url: string, settings: Settings = {}): SharedStore {
  return sharedUnderPrefix({ kind: 'redis', url, ...named(), ...settings }, () => [new Redis(url)]);
}

/** A store on a cluster with its own prefix. */
export function sharedRedisCluster(nodes: readonly NodeAddress[], settings: Settings = {}): SharedStore {
  return sharedUnderPrefix({ kind: 'redis-cluster', nodes, ...named(), ...settings }, () =>
    nodes.map(({ host, port }) => new Redis(port, host)),
  );
}

/** A store on the master that a Sentinel names, with its own prefix. */
export function sharedRedisBehindSentinel(
  sentinel: string,
  name: string,
  nodes: readonly string[],
  settings: Omit<Settings, 'connection'> = {},
): SharedStore {
  const { hostname: host, port } = new URL(sentinel);
  const { prefix, connection } = named();
  const place = { ...connection, sentinels: [{ host, port: Number(port) }], name };
  return sharedUnderPrefix({ kind: 'redis', prefix, connection: place, ...settings }, () =>
    nodes.map((url) => new Redis(url)),
  );
}

/** A unique prefix, which is also the name of the connections. */
function named() {
  const prefix = newPrefix();
  return { prefix, connection: { connectionName: prefix } };
}

function sharedUnderPrefix(
  description: (RedisDescription | RedisClusterDescription) & Required<Pick<RedisDescription, 'connection'>>,
  connect: () => readonly Redis[],
): SharedStore {
  const { prefix, connection } = description;
  async function withMasters(work: (nodes: readonly Redis[]) => Promise<void>): Promise<void> {
    const nodes = connect();
    try {
      // A replica has the same keys as its master and must not be written.
      const roles = await Promise.all(nodes.map((node) => node.role()));
      await work(nodes.filter((_, index) => roles[index]?.[0] === 'master'));
    } finally {
      for (const node of nodes) node.disconnect();
    }
  }
  return {
    description,
    settle: () =>
      withMasters((nodes) =>
        until(async () => {
          const clients = await Promise.all(nodes.map((node) => node.client('LIST')));
          return !clients.some((list) => String(list).includes(connection.connectionName));
        }, 'A connection was left open'),
      ),
    checkIntegrity: () =>
      withMasters(async (nodes) => {
        const problems = await redisProblems(nodes, description);
        if (problems.length > 0) throw new Error(problems.join('\n'));
      }),
    destroy: () => withMasters((nodes) => removeKeys(nodes, prefix)),
  };
}
