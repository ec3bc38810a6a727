import { Cluster, Redis } from 'ioredis';
import type { Clock } from '../../src/sessions/domain/process/clock.js';
import { RedisSessionStorage } from '../../src/redis.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { clusterNodes, newPrefix, readRawRedis, removeKeys } from './redis-store.js';

/** Connections to all nodes: for the stores, and without them. */
interface Connections {
  readonly client: Cluster;
  readonly admins: readonly Redis[];
}

/** Tests use them one after the other. To connect takes longer than most tests. */
let connections: Connections | undefined;

afterAll(async () => {
  const { client, admins } = connections ?? { admins: [] };
  connections = undefined;
  await client?.quit();
  await Promise.all(admins.map((admin) => admin.quit()));
});

/** A store on a Redis cluster with its own key prefix. Its keys are removed at the end. */
export async function openRedisCluster({ clock }: { clock?: Clock | undefined }): Promise<OpenStorage> {
  const { client, admins } = (connections ??= connect());
  const prefix = newPrefix();
  const storage = new RedisSessionStorage({ client, prefix, clock });
  await storage.open();
  return {
    storage,
    raw: () => readRawRedis(admins, prefix),
    async destroy() {
      await storage.close();
      await removeKeys(admins, prefix);
    },
  };
}

function connect(): Connections {
  const nodes = clusterNodes();
  return {
    client: new Cluster([...nodes]),
    admins: nodes.map(({ host, port }) => new Redis(port, host)),
  };
}
