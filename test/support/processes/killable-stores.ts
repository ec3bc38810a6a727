import { binaryFolders, findBinary } from '../../servers/binaries.js';
import { startMariaDb } from '../../servers/private-mariadb.js';
import { startPostgres } from '../../servers/private-postgres.js';
import { startRedis } from '../../servers/private-redis.js';
import type { StartedServer } from '../../servers/server-kind.js';
import type { StoreName } from '../store-names.js';
import { type SqlServer, mariaDbServer, postgresServer } from '../sql-servers.js';
import { newSharedDatabase } from './shared-databases.js';
import { sharedRedis } from './shared-redis.js';
import type { SharedStore } from './shared-stores.js';

/** A store on its own server, which acknowledges a write only when it is on the disk. */
export interface KillableStore {
  readonly server: StartedServer;
  readonly store: SharedStore;
  /** The maximum duration of a call, also if the server is killed. */
  readonly callLimitMs: number;
}

export interface KillableStoreKind {
  readonly name: StoreName;
  start(): Promise<KillableStore>;
}

export const killableStores: readonly KillableStoreKind[] = [
  { name: 'redis', start: startKillableRedis },
  { name: 'mariadb', start: startKillableMariaDb },
  { name: 'postgres', start: startKillablePostgres },
];

const COMMAND_TIMEOUT_MS = 1_000;
const TIME_LIMIT_MS = 2_000;

async function startKillableRedis(): Promise<KillableStore> {
  const server = await startRedis(requiredBinary('redis-server'), { durable: true });
  return {
    server,
    store: sharedRedis(server.address, { commandTimeoutMs: COMMAND_TIMEOUT_MS }),
    callLimitMs: COMMAND_TIMEOUT_MS,
  };
}

async function startKillableMariaDb(): Promise<KillableStore> {
  const command = requiredBinary('mariadbd');
  const server = await startMariaDb({ command, installer: requiredBinary('mariadb-install-db') }, { durable: true });
  return onServer(server, mariaDbServer);
}

async function startKillablePostgres(): Promise<KillableStore> {
  const initdb = requiredBinary('initdb');
  const server = await startPostgres({ command: requiredBinary('postgres'), initdb }, { durable: true });
  return onServer(server, postgresServer);
}

async function onServer(server: StartedServer, kind: SqlServer): Promise<KillableStore> {
  const store = await newSharedDatabase(kind, { address: server.address, timeLimitMs: TIME_LIMIT_MS });
  return { server, store, callLimitMs: TIME_LIMIT_MS };
}

export function requiredBinary(name: string): string {
  const path = findBinary(name, binaryFolders());
  if (path === undefined) throw new Error(`A server that may be killed needs ${name}, which is not on the PATH`);
  return path;
}
