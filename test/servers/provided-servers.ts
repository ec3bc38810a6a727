import { findServer, type FoundServer, type Machine, thisMachine, withoutPassword } from './find-server.js';
import type { ServerKind } from './server-kind.js';

/** The server of each store. A driver is loaded only for a chosen store. */
const serverOf = new Map<string, () => Promise<ServerKind>>([
  ['redis', async () => (await import('./redis.js')).redis],
  ['redis-cluster', async () => (await import('./redis-cluster.js')).redisCluster],
  ['mariadb', async () => (await import('./mariadb.js')).mariadb],
  ['postgres', async () => (await import('./postgres.js')).postgres],
]);

/** The servers of a test run. */
export class ProvidedServers {
  private constructor(private readonly servers: readonly FoundServer[]) {}

  /**
   * Finds or starts the servers of these stores, sets their variables in the environment, and prints their addresses.
   */
  static async for(
    stores: readonly string[],
    machine: Machine = thisMachine,
    print: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
  ): Promise<ProvidedServers> {
    const kinds = await Promise.all([...new Set(stores)].flatMap((store) => serverOf.get(store)?.() ?? []));
    const searches = await Promise.allSettled(kinds.map((kind) => findServer(kind, machine)));
    const servers = new ProvidedServers(searches.flatMap((found) => (found.status === 'fulfilled' ? found.value : [])));
    const problems = searches.flatMap((found) => (found.status === 'rejected' ? String(found.reason.message) : []));
    if (problems.length > 0) {
      await servers.stop();
      throw new Error(problems.join('\n\n'));
    }
    for (const { kind, address, version, origin } of servers.servers) {
      machine.env[kind.variable] = address;
      print(`${kind.name} ${version}: ${withoutPassword(address)} (${origin})`);
    }
    return servers;
  }

  /** Stops the servers that were started for this run. */
  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}
