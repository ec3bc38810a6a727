import { resolve } from 'node:path';
import type { DatabaseSettings, RedisSettings, StoreSettings, VertexSettings } from './store-settings.js';

/**
 * Describes where sessions are stored, for logs: host, port and database, without credentials.
 *
 * @example storePlaceOf({ provider: 'redis' }); // 'Redis at 127.0.0.1:6379, database 0'
 */
export function storePlaceOf(settings: StoreSettings): string {
  if (settings.provider === 'memory') return 'memory: they are gone when this process ends';
  if (settings.provider === 'vertex') return placeOfVertex(settings.vertex ?? {});
  return settings.provider === 'redis' ? placeOfRedis(settings.redis ?? {}) : placeOfDatabase(settings.database ?? {});
}

type Options = Readonly<Record<string, unknown>>;

function placeOfVertex({ project, location, reasoningEngine, endpoint }: VertexSettings): string {
  const region = project === undefined ? '' : `, project ${project} in ${location ?? 'no region'}`;
  const engine = reasoningEngine === undefined ? '' : `, reasoning engine ${reasoningEngine}`;
  return `Vertex AI${endpoint === undefined ? '' : ` at ${new URL(endpoint).host}`}${region}${engine}`;
}

function placeOfRedis({ url, client, connection, cluster }: RedisSettings): string {
  if (cluster) return `Redis Cluster at ${cluster.map(({ host, port }) => hostWithPort(host, port)).join(', ')}`;
  if (client) {
    const { isCluster, options } = client as { readonly isCluster?: boolean; readonly options?: Options };
    return isCluster
      ? "Redis Cluster, over the app's own client"
      : `${nodeOf(options ?? {})}, over the app's own client`;
  }
  return nodeOf({ ...connection, ...(url !== undefined && addressIn(url)) });
}

function nodeOf(options: Options): string {
  return `${redisPlaceOf(options)}${options.sentinels ? '' : ','} database ${Number(options.db ?? 0)}`;
}

/** Options in the URL take precedence over separate options. */
function addressIn(url: string): Options {
  const { hostname, port, pathname } = new URL(url);
  const number = pathname.slice(1);
  return {
    host: hostname.replaceAll(/^\[|\]$/g, ''),
    ...(port !== '' && { port: Number(port) }),
    ...(number !== '' && { db: Number(number) }),
  };
}

const SERVERS: Readonly<Partial<Record<string, string>>> = {
  postgres: 'PostgreSQL',
  postgresql: 'PostgreSQL',
  mysql: 'MySQL or MariaDB',
  mariadb: 'MySQL or MariaDB',
};

function placeOfDatabase({ database, url, schema, dataSource, driverOptions }: DatabaseSettings): string {
  if (dataSource) return `${placeOfDataSource(dataSource)}, over the app's own DataSource`;
  if (url === undefined) return `SQLite, ${resolveDatabaseFile(database ?? '')}`;
  const place = serverPlaceOf({ url, driverOptions });
  const inSchema = schema === undefined ? '' : `, schema ${JSON.stringify(schema)}`;
  return `${serverNamed(new URL(url).protocol.slice(0, -1))} at ${place.server}, database ${place.database}${inSchema}`;
}

function placeOfDataSource({ options = {} }: { readonly options?: Options }): string {
  const { type, database } = options;
  const isFile = SERVERS[String(type)] === undefined && typeof database === 'string';
  if (isFile) return `SQLite, ${resolveDatabaseFile(database)}`;
  const server = dataSourceServerOf(options);
  const inDatabase = typeof database === 'string' ? `, database ${JSON.stringify(database)}` : '';
  return `${serverNamed(String(type))}${server === undefined ? '' : ` at ${server}`}${inDatabase}`;
}

function serverNamed(type: string): string {
  return SERVERS[type.toLowerCase()] ?? type;
}

function resolveDatabaseFile(path: string): string {
  return path === ':memory:' ? path : resolve(path);
}

/** The options that locate a server. The URL may contain credentials. */
interface AddressedServer {
  readonly url: string;
  readonly driverOptions?: Readonly<Record<string, unknown>> | undefined;
}

/** The location of a SQL server, without password. */
export interface ServerPlace {
  readonly server: string;
  readonly user: string;
  readonly database: string;
}

export function serverPlaceOf({ url, driverOptions: { socketPath } = {} }: AddressedServer): ServerPlace {
  const { hostname, port, protocol, username, pathname, searchParams } = new URL(url);
  const usualPort = protocol.startsWith('postgres') ? '5432' : '3306';
  const host = hostname || searchParams.get('host') || 'localhost';
  return {
    server: typeof socketPath === 'string' ? socketPath : `${host}:${port || usualPort}`,
    user: JSON.stringify(decodeURIComponent(username)),
    database: JSON.stringify(decodeURIComponent(pathname.slice(1))),
  };
}

/** The options of a DataSource that locate its server. */
export interface DataSourcePlace {
  readonly url?: string;
  readonly host?: string;
  readonly port?: number;
  readonly socketPath?: string;
  readonly extra?: { readonly socketPath?: string };
  readonly replication?: { readonly master?: Omit<DataSourcePlace, 'replication'> };
}

/** The server of a DataSource, without credentials. */
export function dataSourceServerOf(options: object): string | undefined {
  const { replication, ...own } = options as DataSourcePlace;
  const { url, host, port, extra } = { ...own, ...replication?.master };
  const socketPath = extra?.socketPath ?? own.socketPath;
  if (socketPath !== undefined) return socketPath;
  const place = url !== undefined && URL.canParse(url) ? new URL(url).host : host;
  return place && !place.includes(':') && port !== undefined ? `${place}:${port}` : place;
}

/** Host and port, as in a URL. */
export function hostWithPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The options of ioredis that locate Redis. */
interface RedisPlaceOptions {
  readonly host?: unknown;
  readonly port?: unknown;
  readonly path?: unknown;
  readonly name?: unknown;
  readonly sentinels?: unknown;
}

/** The location of a Redis node, or of the Sentinels and their master. */
export function redisPlaceOf({ host, port, path, name, sentinels }: RedisPlaceOptions): string {
  if (Array.isArray(sentinels) && sentinels.length > 0) {
    const places = sentinels.map((sentinel: RedisPlaceOptions) => formatRedisAddress(sentinel, 26_379)).join(', ');
    return `Redis, the master ${JSON.stringify(name)} of the Sentinels at ${places},`;
  }
  return `Redis at ${typeof path === 'string' ? path : formatRedisAddress({ host, port }, 6379)}`;
}

function formatRedisAddress({ host, port }: RedisPlaceOptions, usualPort: number): string {
  return hostWithPort(typeof host === 'string' ? host : '127.0.0.1', Number(port ?? usualPort));
}
