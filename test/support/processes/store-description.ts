import type { Clock } from '../../../src/index.js';
import { RedisSessionStorage, type WaitReplicas } from '../../../src/redis.js';
import type { SessionStorage } from '../../../src/sessions/storage/session-storage.js';
import { type ServerOptions, TypeOrmSessionStorage } from '../../../src/typeorm.js';

export interface SqliteDescription {
  readonly kind: 'sqlite';
  readonly database: string;
}

interface RedisSettings {
  readonly prefix: string;
  /** The name of its connections on the server. */
  readonly connection?: { readonly connectionName: string };
  readonly commandTimeoutMs?: number;
  readonly waitReplicas?: WaitReplicas;
}

export interface RedisDescription extends RedisSettings {
  readonly kind: 'redis';
  readonly url: string;
}

export interface RedisClusterDescription extends RedisSettings {
  readonly kind: 'redis-cluster';
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
}

/** A database of a server, with the options to connect to it. */
export interface SqlServerDescription extends Pick<ServerOptions, 'url' | 'driverOptions' | 'timeLimitMs'> {
  readonly kind: 'mariadb' | 'postgres';
}

/** The address of a store as plain data, so that every process can open it. */
export type StoreDescription = SqliteDescription | RedisDescription | RedisClusterDescription | SqlServerDescription;

interface OpenOptions {
  readonly clock?: Clock | undefined;
}

type DescriptionOf<Kind> = Kind extends SqlServerDescription['kind']
  ? SqlServerDescription
  : Extract<StoreDescription, { kind: Kind }>;

type Openers = {
  [Kind in StoreDescription['kind']]: (
    store: DescriptionOf<Kind>,
    options: OpenOptions,
  ) => SessionStorage & { open(): Promise<void> };
};

const openSqlServer = ({ kind: _kind, ...settings }: SqlServerDescription, { clock }: OpenOptions) =>
  new TypeOrmSessionStorage({ ...settings, clock });

const openers: Openers = {
  sqlite: ({ database }, { clock }) => new TypeOrmSessionStorage({ database, clock }),
  redis: ({ kind: _kind, ...settings }, { clock }) => new RedisSessionStorage({ ...settings, clock }),
  'redis-cluster': ({ kind: _kind, nodes, ...settings }, { clock }) =>
    new RedisSessionStorage({ ...settings, cluster: nodes, clock }),
  mariadb: openSqlServer,
  postgres: openSqlServer,
};

/** Opens the store in this process, with a new connection. */
export async function openDescribed(store: StoreDescription, options: OpenOptions = {}): Promise<SessionStorage> {
  // Each kind has its own opener, which TypeScript does not follow through the table.
  const construct = openers[store.kind] as (
    store: StoreDescription,
    options: OpenOptions,
  ) => ReturnType<Openers['sqlite']>;
  const storage = construct(store, options);
  await storage.open();
  return storage;
}
