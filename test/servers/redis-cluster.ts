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
const MAX_PROBES = 200;

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
  /** Replicas per master; none by default. */
  readonly replicas?: number;
  /** The time without a response after which a node counts as failed. */
  readonly nodeTimeoutMs?: number;
}

/** Starts three masters and their replicas, and connects them to a cluster. `processes` lists the masters first. */
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
    await Promise.all(masters.map(assignSlots));
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
    // By default, a master waits seconds for more replicas before it starts to sync.
    args: ['--cluster-enabled', 'yes', '--cluster-node-timeout', `${nodeTimeoutMs}`, '--repl-diskless-sync-delay', '0'],
    check: (address) => withRedis(address, (client) => client.ping()),
  });
}

/** Turns a node without slots into a replica. */
async function follow(node: PrivateServer, master: PrivateServer): Promise<void> {
  const id = await withRedis(master.address, (client) => client.cluster('MYID'));
  // The node may not know the master yet.
  await until(() => withRedis(node.address, (client) => client.cluster('REPLICATE', id)));
}

/**
 * Throws unless this number of replicas confirms a write to the master. A replica that Redis lists as online can
 * receive its first commands up to a second later.
 */
export async function checkReplicas(address: string, count: number): Promise<void> {
  if (count === 0) return;
  await withRedis(address, async (client) => {
    await writeProbe(client);
    const reached = await client.wait(count, PROBE_LIMIT_MS);
    if (reached < count) throw new Error(`${address} has ${reached} of ${count} replicas`);
  });
}

/** Writes a key that expires, in any slot of the master. */
async function writeProbe(client: Redis): Promise<void> {
  for (let number = 0; ; number++) {
    try {
      await client.set(`probe-${number}`, '', 'PX', PROBE_LIMIT_MS);
      return;
    } catch (error) {
      if (number === MAX_PROBES || !String(error).includes('MOVED')) throw error;
    }
  }
}

/** Assigns the slots of a node, and a config epoch that no other node has. */
async function assignSlots(node: PrivateServer, index: number): Promise<void> {
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

/** Repeats the check until it does not throw. */
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

/** Throws unless each node reports that all slots are served. Returns the version. */
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
