import type { Clock } from '../../../src/sessions/domain/process/clock.js';
import type { RedisSessionStorageOptions, WaitReplicas } from '../../../src/redis.js';
import type { SessionStorage } from '../../../src/sessions/storage/session-storage.js';
import type { ServerOptions, TypeOrmSessionStorageOptions } from '../../../src/typeorm.js';

export interface SqliteDescription {
  readonly kind: 'sqlite';
  readonly database: string;
}

interface RedisSettings {
  readonly prefix: string;
  /** The name of its connections on the server. */
  readonly connection?: {
    readonly connectionName: string;
    /** Sentinels, and the name of the master there. */
    readonly sentinels?: { host: string; port: number }[];
    readonly name?: string;
  };
  readonly commandTimeoutMs?: number;
  readonly waitReplicas?: WaitReplicas;
}

export interface RedisDescription extends RedisSettings {
  readonly kind: 'redis';
  /** Left out behind Sentinel, which knows it. */
  readonly url?: string;
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

interface OpenableStorage extends SessionStorage {
  open(): Promise<void>;
}

type Openers = {
  [Kind in StoreDescription['kind']]: (store: DescriptionOf<Kind>, options: OpenOptions) => Promise<OpenableStorage>;
};

// A process loads only the packages of its store: loading all takes a large part of its start.
const loadRedis = () => import('../../../src/redis.js');
const loadSql = () => import('../../../src/typeorm.js');

/** Loads the packages that open the store. */
export async function loadStore({ kind }: StoreDescription): Promise<void> {
  await (kind === 'redis' || kind === 'redis-cluster' ? loadRedis() : loadSql());
}

async function redisStorage(options: RedisSessionStorageOptions): Promise<OpenableStorage> {
  const { RedisSessionStorage } = await loadRedis();
  return new RedisSessionStorage(options);
}

async function sqlStorage(options: TypeOrmSessionStorageOptions): Promise<OpenableStorage> {
  const { TypeOrmSessionStorage } = await loadSql();
  return new TypeOrmSessionStorage(options);
}

const openSqlServer: Openers['mariadb'] = ({ kind: _kind, ...settings }, { clock }) =>
  sqlStorage({ ...settings, clock });

const openers: Openers = {
  sqlite: ({ database }, { clock }) => sqlStorage({ database, clock }),
  redis: ({ kind: _kind, ...settings }, { clock }) => redisStorage({ ...settings, clock }),
  'redis-cluster': ({ kind: _kind, nodes, ...settings }, { clock }) =>
    redisStorage({ ...settings, cluster: nodes, clock }),
  mariadb: openSqlServer,
  postgres: openSqlServer,
};

/** Opens the store in this process, with a new connection. */
export async function openDescribed(store: StoreDescription, options: OpenOptions = {}): Promise<SessionStorage> {
  // Each kind has its own opener, which TypeScript does not follow through the table.
  const construct = openers[store.kind] as (store: StoreDescription, options: OpenOptions) => Promise<OpenableStorage>;
  const storage = await construct(store, options);
  await storage.open();
  return storage;
}
