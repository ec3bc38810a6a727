import { Redis } from 'ioredis';
import type { Clock } from '../../src/index.js';
import { RedisSessionStorage } from '../../src/redis.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { clusterNodes, newPrefix, readRawRedis, removeKeys } from './redis-store.js';

/** A store on a Redis cluster with its own key prefix. Its keys are removed at the end. */
export async function openRedisCluster({ clock }: { clock?: Clock | undefined }): Promise<OpenStorage> {
  const nodes = clusterNodes();
  const prefix = newPrefix();
  const storage = new RedisSessionStorage({ cluster: nodes, prefix, clock });
  await storage.open();
  const admins = nodes.map(({ host, port }) => new Redis(port, host));
  return {
    storage,
    raw: () => readRawRedis(admins, prefix),
    async destroy() {
      await storage.close();
      await removeKeys(admins, prefix);
      await Promise.all(admins.map((admin) => admin.quit()));
    },
  };
}
