import { setTimeout as delay } from 'node:timers/promises';
import { findBinary } from './binaries.js';
import type { PrivateServer } from './private-server.js';
import { startRedis } from './private-redis.js';
import { versionOf, withRedis } from './redis-login.js';
import type { ServerKind, StartedServer } from './server-kind.js';

const NODES = 3;
const SLOTS = 16_384;
const JOIN_LIMIT_MS = 30_000;
const POLL_MS = 50;

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

/** Starts three masters from a `redis-server` and makes a cluster of them. */
export async function startCluster(command: string): Promise<StartedServer> {
  const starts = await Promise.allSettled(Array.from({ length: NODES }, () => startNode(command)));
  const nodes = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  const address = nodes.map((node) => new URL(node.address).host).join();
  try {
    for (const start of starts) if (start.status === 'rejected') throw start.reason;
    await Promise.all(nodes.map(takeShare));
    await Promise.all(nodes.map((node) => meet(node, nodes)));
    await untilJoined(address);
    return { address, processes: nodes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function startNode(command: string): Promise<PrivateServer> {
  return startRedis(command, {
    args: ['--cluster-enabled', 'yes', '--cluster-node-timeout', '5000'],
    check: (address) => withRedis(address, (client) => client.ping()),
  });
}

/** Gives a node its slots, and a rank that no other claims. */
async function takeShare(node: PrivateServer, index: number): Promise<void> {
  const first = Math.floor((index * SLOTS) / NODES);
  const end = Math.floor(((index + 1) * SLOTS) / NODES);
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

async function untilJoined(address: string): Promise<void> {
  const giveUpAt = Date.now() + JOIN_LIMIT_MS;
  for (;;) {
    try {
      await checkCluster(address);
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
