import { Cluster, Redis } from 'ioredis';
import { RedisSessionStorage, type RedisSessionStorageOptions } from '../../src/redis.js';
import { clusterNodes, keysUnder, newPrefix, redisUrl, removeKeys } from './redis-store.js';
import { chosenStoreNames } from './store-names.js';

type RedisStoreName = 'redis' | 'redis-cluster';

/** Opens stores on one server or cluster with one key prefix, and removes their keys at the end. */
export class RedisBench {
  readonly prefix = newPrefix();
  readonly #closers: (() => unknown)[] = [];
  readonly #nodes: readonly Redis[];

  constructor(readonly name: RedisStoreName) {
    this.#nodes =
      name === 'redis' ? [new Redis(redisUrl)] : clusterNodes().map(({ host, port }) => new Redis(port, host));
  }

  /** A plain client without the options of the store. */
  client(): Redis | Cluster {
    const client = this.name === 'redis' ? new Redis(redisUrl) : new Cluster(clusterNodes());
    this.#closers.push(() => client.disconnect());
    return client;
  }

  storage(options: RedisSessionStorageOptions = {}): RedisSessionStorage {
    const where = this.name === 'redis' ? { url: redisUrl } : { cluster: clusterNodes() };
    const storage = new RedisSessionStorage({ prefix: this.prefix, ...(options.client ? {} : where), ...options });
    this.#closers.push(() => storage.close());
    return storage;
  }

  /** Each key of the store with the node that holds it. */
  async keys(): Promise<(readonly [key: string, node: Redis])[]> {
    const found = await Promise.all(
      this.#nodes.map(async (node) => (await keysUnder(node, this.prefix)).map((key) => [key, node] as const)),
    );
    return found.flat();
  }

  /** Runs a command on every node. */
  async everywhere(command: string, ...args: string[]): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.call(command, ...args)));
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).toReversed()) await close();
    await removeKeys(this.#nodes, this.prefix);
    for (const node of this.#nodes) node.disconnect();
  }
}

/**
 * Describes tests of Redis, for each of these stores that `STORES` selects; `$name` in the
 * title is its name. Each test gets a new bench.
 */
export function describeRedis(
  title: string,
  stores: readonly RedisStoreName[],
  define: (bench: () => RedisBench) => void,
): void {
  const chosen = stores.filter((name) => chosenStoreNames().includes(name));
  for (const name of chosen) {
    describe(title.replace('$name', name), () => {
      let bench: RedisBench | undefined;
      beforeEach(() => {
        bench = new RedisBench(name);
      });
      afterEach(() => bench?.close());
      define(() => {
        if (!bench) throw new Error('A bench exists only while a test runs');
        return bench;
      });
    });
  }
  if (chosen.length === 0) it('is not selected by STORES', () => expect(chosen).toEqual([]));
}
