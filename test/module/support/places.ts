import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { SessionService } from '../../../src/index.js';
import type { StoreSettings } from '../../../src/config/store-settings.js';
import { RedisSessionStorage } from '../../../src/redis.js';
import { TypeOrmSessionStorage } from '../../../src/typeorm.js';
import { createMariaDbDatabase, dropMariaDbDatabase } from '../../support/mariadb-store.js';
import { createPostgresDatabase, dropPostgresDatabase } from '../../support/postgres-store.js';
import { clusterNodes, newPrefix, redisUrl, removeKeys } from '../../support/redis-store.js';
import { describeChosen } from '../../support/processes/shared-stores.js';
import { newStoreFolder } from '../../support/store-folder.js';
import type { StoreName } from '../../support/store-names.js';
import { newDatabaseName } from './database-name.js';

/** An empty store for one test, with its settings in all forms. */
export interface Place {
  readonly name: StoreName;
  readonly settings: StoreSettings;
  readonly env: Readonly<Record<string, string>>;
  /** A service on the same store, not created by the module; `undefined` if no other service can read the store. */
  look(): SessionService | undefined;
  remove(): Promise<void>;
}

export interface PlaceKind {
  readonly name: StoreName;
  /** Opens a store of its own, which `remove` deletes. */
  open(): Promise<Place>;
}

/** The stores that the module creates from settings. */
const placeKinds: readonly PlaceKind[] = [
  { name: 'memory', open: memoryPlace },
  { name: 'sqlite', open: sqlitePlace },
  { name: 'redis', open: async () => redisPlace('redis') },
  { name: 'redis-cluster', open: async () => redisPlace('redis-cluster') },
  { name: 'mariadb', open: mariaDbPlace },
  { name: 'postgres', open: postgresPlace },
];

/** Describes an app for each store that `STORES` selects; `$name` in the title is the store. */
export function describePlaces(title: string, define: (kind: PlaceKind) => void): void {
  describeChosen(title, placeKinds, define);
}

/** The same for stores to which an app can have its own connections. */
export function describePlacesWithConnections(title: string, define: (kind: PlaceKind) => void): void {
  describeChosen(
    title,
    placeKinds.filter(({ name }) => name !== 'memory'),
    define,
  );
}

export async function openPlace(name: StoreName): Promise<Place> {
  const kind = placeKinds.find((candidate) => candidate.name === name);
  if (!kind) throw new Error(`The module creates no store named ${name} from settings`);
  return kind.open();
}

async function memoryPlace(): Promise<Place> {
  return {
    name: 'memory',
    settings: { provider: 'memory' },
    env: { SESSIONS_PROVIDER: 'memory' },
    look: () => undefined,
    remove: async () => undefined,
  };
}

async function sqlitePlace(): Promise<Place> {
  const folder = newStoreFolder();
  const database = join(folder, 'sessions.db');
  return {
    name: 'sqlite',
    settings: { provider: 'typeorm', database: { database } },
    env: { SESSIONS_PROVIDER: 'typeorm', SESSIONS_DATABASE_URL: `sqlite:${database}` },
    look: () => new SessionService({ storage: new TypeOrmSessionStorage({ database }) }),
    remove: () => rm(folder, { recursive: true }),
  };
}

async function mariaDbPlace(): Promise<Place> {
  const database = await createMariaDbDatabase(newDatabaseName());
  return serverPlace('mariadb', database.storageOptions, () => dropMariaDbDatabase(database));
}

async function postgresPlace(): Promise<Place> {
  const database = await createPostgresDatabase(newDatabaseName());
  return serverPlace('postgres', database.storageOptions, () => dropPostgresDatabase(database));
}

function redisPlace(name: 'redis' | 'redis-cluster'): Place {
  const prefix = newPrefix();
  const nodes = name === 'redis' ? undefined : clusterNodes();
  const where = nodes ? { cluster: nodes } : { url: redisUrl };
  const list = nodes?.map(({ host, port }) => `${host}:${port}`).join(',');
  return {
    name,
    // A busy machine may take longer than an app should wait.
    settings: { provider: 'redis', redis: { ...where, prefix, commandTimeoutMs: 30_000 } },
    env: {
      SESSIONS_PROVIDER: 'redis',
      SESSIONS_REDIS_URL: list === undefined ? redisUrl : `redis-cluster://${list}`,
      SESSIONS_REDIS_PREFIX: prefix,
    },
    look: () => new SessionService({ storage: new RedisSessionStorage({ ...where, prefix }) }),
    async remove() {
      const admins = nodes ? nodes.map(({ host, port }) => new Redis(port, host)) : [new Redis(redisUrl)];
      await removeKeys(admins, prefix);
      for (const admin of admins) admin.disconnect();
    },
  };
}

type ServerOptions = ConstructorParameters<typeof TypeOrmSessionStorage>[0] & { readonly url: string };

function serverPlace(name: 'mariadb' | 'postgres', database: ServerOptions, remove: () => Promise<void>): Place {
  return {
    name,
    settings: { provider: 'typeorm', database },
    env: { SESSIONS_PROVIDER: 'typeorm', SESSIONS_DATABASE_URL: database.url },
    look: () => new SessionService({ storage: new TypeOrmSessionStorage(database) }),
    remove,
  };
}
