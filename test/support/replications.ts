import { askMariaDb, startMariaDbPrimary, startMariaDbReplica } from '../servers/mariadb-replica.js';
import { askPostgres, startStandby } from '../servers/postgres-standby.js';
import { startPostgres } from '../servers/private-postgres.js';
import type { PrivateServer } from '../servers/private-server.js';
import { requiredBinary } from './processes/killable-stores.js';
import type { StoreName } from './store-names.js';
import { TcpProxy } from './tcp-proxy.js';
import { countTrips } from './round-trips.js';

/** A server with its replica, each behind a proxy that counts. */
export interface Replication {
  readonly url: string;
  readonly replicaUrl: string;
  readonly replica: PrivateServer;
  /** The round trips to each so far. */
  trips(): { readonly primary: number; readonly replica: number };
  /** The replica answers, and gets nothing new. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

export interface ReplicationKind {
  readonly name: StoreName;
  start(): Promise<Replication>;
}

export const REPLICATIONS: readonly ReplicationKind[] = [
  {
    name: 'postgres',
    async start() {
      const command = requiredBinary('postgres');
      const primary = await startPostgres({ command, initdb: requiredBinary('initdb') });
      const replica = await startStandby({ command, backup: requiredBinary('pg_basebackup') }, primary);
      const ask = (query: string) => async (): Promise<void> => void (await askPostgres(replica.address, query));
      return replicationOf(primary, replica, '/postgres', {
        pause: ask('SELECT pg_wal_replay_pause()'),
        resume: ask('SELECT pg_wal_replay_resume()'),
      });
    },
  },
  {
    name: 'mariadb',
    async start() {
      const binaries = { command: requiredBinary('mariadbd'), installer: requiredBinary('mariadb-install-db') };
      const primary = await startMariaDbPrimary(binaries);
      const replica = await startMariaDbReplica(binaries, primary);
      await askMariaDb(primary.address, 'CREATE DATABASE agents');
      return replicationOf(primary, replica, '/agents', {
        pause: () => askMariaDb(replica.address, 'STOP SLAVE SQL_THREAD'),
        resume: () => askMariaDb(replica.address, 'START SLAVE SQL_THREAD'),
      });
    },
  },
];

async function replicationOf(
  primary: PrivateServer,
  replica: PrivateServer,
  database: string,
  flow: Pick<Replication, 'pause' | 'resume'>,
): Promise<Replication> {
  const servers = [primary, replica];
  const proxies = await Promise.all(
    servers.map(({ address }) => TcpProxy.start({ host: '127.0.0.1', port: Number(new URL(address).port) })),
  );
  const [url = '', replicaUrl = ''] = servers.map(({ address }, index) => {
    const behind = new URL(address);
    behind.port = String(proxies[index]?.port);
    behind.pathname = database;
    return behind.href;
  });
  const [primaryTrips = () => 0, replicaTrips = () => 0] = proxies.map(countTrips);
  return {
    url,
    replicaUrl,
    replica,
    trips: () => ({ primary: primaryTrips(), replica: replicaTrips() }),
    ...flow,
    async stop() {
      for (const proxy of proxies) proxy.refuse();
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}
