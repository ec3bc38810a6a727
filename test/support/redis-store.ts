import { entriesOfText } from '../../src/sessions/domain/stored/state-text.js';
import { textOfState } from '../../src/sessions/storage/redis/script/codec.js';
import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { RedisSessionStorage } from '../../src/redis.js';
import type { RawData } from '../../src/testing/open-storage.js';
import { type ReusableStore, reusedStores } from './reused-stores.js';

export const redisUrl = process.env.TEST_REDIS_URL ?? process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';

export interface NodeAddress {
  readonly host: string;
  readonly port: number;
}

/** The nodes of the cluster of the tests. */
export function clusterNodes(): NodeAddress[] {
  const addresses = process.env.TEST_REDIS_CLUSTER;
  if (!addresses) throw new Error('TEST_REDIS_CLUSTER has to name nodes of a cluster: host:port,host:port,host:port');
  return nodeAddresses(addresses);
}

/** Parses `host:port,host:port`. */
export function nodeAddresses(addresses: string): NodeAddress[] {
  return addresses.split(',').map((address) => {
    const [host = '', port] = address.trim().split(':');
    return { host, port: Number(port) };
  });
}

/** A Redis store with its own key prefix. Its keys are removed at the end. */
export const openRedis = reusedStores(async (clock) => {
  const prefix = newPrefix();
  const storage = new RedisSessionStorage({ url: redisUrl, prefix, clock });
  await storage.open();
  return reusableRedis(storage, [new Redis(redisUrl)], prefix);
});

/** @param admins connections to all nodes, without the store */
export function reusableRedis(storage: RedisSessionStorage, admins: readonly Redis[], prefix: string): ReusableStore {
  const empty = (): Promise<void> => removeKeys(admins, prefix);
  return {
    storage,
    raw: () => readRawRedis(admins, prefix),
    empty,
    async remove() {
      await empty();
      await Promise.all(admins.map((admin) => admin.quit()));
    },
  };
}

export function newPrefix(): string {
  return `test-${randomUUID()}:`;
}

/** The keys with a prefix. Only tests list keys, the store never does. */
export async function keysUnder(node: Redis, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const found of node.scanStream({ match: `${prefix}*`, count: 1_000 })) keys.push(...(found as string[]));
  return [...new Set(keys)].sort();
}

export async function removeKeys(nodes: readonly Redis[], prefix: string): Promise<void> {
  for (const node of nodes) {
    const keys = await keysUnder(node, prefix);
    await Promise.all(keys.map((key) => node.unlink(key)));
  }
}

/** The data of all keys with a prefix, on all nodes. */
export async function readRawRedis(nodes: readonly Redis[], prefix: string): Promise<RawData> {
  const values = new Map<string, readonly string[]>();
  for (const node of nodes) {
    // Nobody waits for hints, so they appear at any time.
    const keys = (await keysUnder(node, prefix)).filter((key) => !key.endsWith('{@consumers}:slots'));
    const read = await Promise.all(keys.map((key) => readValue(node, key)));
    keys.forEach((key, index) => values.set(key, read[index] ?? []));
  }
  const ofKind = (kind: RegExp) => [...values].filter(([key]) => kind.test(key)).map(([, value]) => value);
  const fields = (kind: RegExp) => ofKind(kind).flatMap((value) => value.filter((_, index) => index % 2 === 0));
  return {
    sessions: ofKind(/:session:[^:]*$/).length,
    events: fields(/:session:[^:]*$/).filter((name) => /^\d/.test(name)).length,
    stateEntries:
      ofKind(/:session:[^:]*$/).reduce(
        (sum, value) => sum + entriesOfText(textOfState(value[value.indexOf('state') + 1] ?? null) ?? '').length,
        0,
      ) + fields(/:(state:[^:]*|user-state|app-state)$/).filter((name) => name !== '').length,
    text: JSON.stringify([...values].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** A value as alternating names and contents, in a fixed order. */
async function readValue(node: Redis, key: string): Promise<string[]> {
  const type = await node.type(key);
  if (type === 'hash') {
    const entries = Object.entries(await node.hgetall(key));
    return entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).flat();
  }
  if (type === 'zset') return node.zrange(key, 0, -1, 'WITHSCORES');
  if (type === 'string') return [(await node.get(key)) ?? ''];
  return [];
}
