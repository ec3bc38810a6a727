import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { findBinary } from './binaries.js';
import type { PrivateServer } from './private-server.js';
import { startRedis } from './private-redis.js';
import { versionOf, withRedis } from './redis-login.js';
import type { ServerKind, StartedServer } from './server-kind.js';

const MASTERS = 3;
const SLOTS = 16_384;
const JOIN_LIMIT_MS = 30_000;
const POLL_MS = 50;
const PROBE_LIMIT_MS = 500;
const MOST_PROBES = 200;

export const redisCluster: ServerKind = {
  name: 'Redis Cluster',
  variable: 'TEST_REDIS_CLUSTER',
  example: '127.0.0.1:7000,127.0.0.1:7001,127.0.0.1:7002',
  usualAddresses: [],
  check: checkCluster,
  binaries: ['redis-server'],
  debianPackage: 'redis-server',
  starter(folders) {
    const command = findBinary('redis-server', folders);
    return command === undefined ? undefined : () => startCluster(command);
  },
};

export interface ClusterOptions {
  /** Of each master; none unless given. */
  readonly replicas?: number;
  /** After which time of silence a node counts as gone. */
  readonly nodeTimeoutMs?: number;
}

/** Starts three masters from a `redis-server`, and replicas if wanted, and makes a cluster of them; masters come first. */
export async function startCluster(
  command: string,
  { replicas = 0, nodeTimeoutMs = 5_000 }: ClusterOptions = {},
): Promise<StartedServer> {
  const count = MASTERS * (1 + replicas);
  const starts = await Promise.allSettled(Array.from({ length: count }, () => startNode(command, nodeTimeoutMs)));
  const nodes = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  const address = nodes.map((node) => new URL(node.address).host).join();
  const masters = nodes.slice(0, MASTERS);
  try {
    for (const start of starts) if (start.status === 'rejected') throw start.reason;
    await Promise.all(masters.map(takeShare));
    await Promise.all(nodes.map((node) => meet(node, nodes)));
    await until(() => checkCluster(address));
    const followers = nodes.slice(MASTERS);
    await Promise.all(followers.map((node, index) => follow(node, masters[index % MASTERS] ?? node)));
    await until(() => Promise.all(masters.map((node) => checkReplicas(node.address, replicas))));
    return { address, processes: nodes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function startNode(command: string, nodeTimeoutMs: number): Promise<PrivateServer> {
  return startRedis(command, {
    // A replica would else wait seconds for others that want the same data.
    args: ['--cluster-enabled', 'yes', '--cluster-node-timeout', `${nodeTimeoutMs}`, '--repl-diskless-sync-delay', '0'],
    check: (address) => withRedis(address, (client) => client.ping()),
  });
}

/** Makes a node without slots a replica. */
async function follow(node: PrivateServer, master: PrivateServer): Promise<void> {
  const id = await withRedis(master.address, (client) => client.cluster('MYID'));
  // It may not know the master yet that it heard of a moment ago.
  await until(() => withRedis(node.address, (client) => client.cluster('REPLICATE', id)));
}

/**
 * Makes sure that so many replicas confirm what a master writes. It calls them online before that, and those that it
 * calls so may get their first commands as late as a second after.
 */
export async function checkReplicas(address: string, count: number): Promise<void> {
  if (count === 0) return;
  await withRedis(address, async (client) => {
    await writeProbe(client);
    const reached = await client.wait(count, PROBE_LIMIT_MS);
    if (reached < count) throw new Error(`${address} has ${reached} of ${count} replicas`);
  });
}

/** Writes a key that goes away by itself, in any slot that the master has. */
async function writeProbe(client: Redis): Promise<void> {
  for (let number = 0; ; number++) {
    try {
      await client.set(`probe-${number}`, '', 'PX', PROBE_LIMIT_MS);
      return;
    } catch (error) {
      if (number === MOST_PROBES || !String(error).includes('MOVED')) throw error;
    }
  }
}

/** Gives a node its slots, and a rank that no other claims. */
async function takeShare(node: PrivateServer, index: number): Promise<void> {
  const first = Math.floor((index * SLOTS) / MASTERS);
  const end = Math.floor(((index + 1) * SLOTS) / MASTERS);
  await withRedis(node.address, async (client) => {
    await client.cluster('SET-CONFIG-EPOCH', index + 1);
    await client.cluster('ADDSLOTS', ...Array.from({ length: end - first }, (_, offset) => first + offset));
  });
}

async function meet(node: PrivateServer, others: readonly PrivateServer[]): Promise<void> {
  await withRedis(node.address, async (client) => {
    for (const other of others) {
      const { hostname, port } = new URL(other.address);
      if (other !== node) await client.cluster('MEET', hostname, Number(port));
    }
  });
}

/** Asks again and again until it does not throw. */
export async function until(check: () => Promise<unknown>): Promise<void> {
  const giveUpAt = Date.now() + JOIN_LIMIT_MS;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (Date.now() > giveUpAt) throw error;
      await delay(POLL_MS);
    }
  }
}

/** Makes sure that every node named knows all slots in good hands. Tells the version. */
async function checkCluster(address: string): Promise<string> {
  const [version = 'of an unknown version'] = await Promise.all(
    address.split(',').map((host) =>
      withRedis(`redis://${host.trim()}`, async (client) => {
        const info = await client.cluster('INFO');
        if (!info.includes('cluster_state:ok')) throw new Error(`${host} says ${info.split('\r\n', 1).join()}`);
        return versionOf(await client.info('server'));
      }),
    ),
  );
  return version;
}
