import { findServer, type FoundServer, type Surroundings, thisMachine, withoutPassword } from './find-server.js';
import type { ServerKind } from './server-kind.js';

/** Which server each store needs. Loads a driver only for a store that needs it. */
const serverOf = new Map<string, () => Promise<ServerKind>>([
  ['redis', async () => (await import('./redis.js')).redis],
  ['redis-cluster', async () => (await import('./redis-cluster.js')).redisCluster],
  ['mariadb', async () => (await import('./mariadb.js')).mariadb],
  ['postgres', async () => (await import('./postgres.js')).postgres],
]);

/** The servers of a run of the tests. */
export class ProvidedServers {
  private constructor(private readonly servers: readonly FoundServer[]) {}

  /** Finds or starts what these stores need, puts the addresses into the environment, and tells which they are. */
  static async for(
    stores: readonly string[],
    surroundings: Surroundings = thisMachine,
    tell: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
  ): Promise<ProvidedServers> {
    const kinds = await Promise.all([...new Set(stores)].flatMap((store) => serverOf.get(store)?.() ?? []));
    const searches = await Promise.allSettled(kinds.map((kind) => findServer(kind, surroundings)));
    const servers = new ProvidedServers(searches.flatMap((found) => (found.status === 'fulfilled' ? found.value : [])));
    const problems = searches.flatMap((found) => (found.status === 'rejected' ? String(found.reason.message) : []));
    if (problems.length > 0) {
      await servers.stop();
      throw new Error(problems.join('\n\n'));
    }
    for (const { kind, address, version, origin } of servers.servers) {
      surroundings.env[kind.variable] = address;
      tell(`${kind.name} ${version}: ${withoutPassword(address)} (${origin})`);
    }
    return servers;
  }

  /** Ends those that were started for this run. */
  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}
