import { resolve } from 'node:path';
import { dataSourceServerOf, hostWithPort, redisPlaceOf, serverPlaceOf } from './server-place.js';
import type { DatabaseSettings, RedisSettings, StoreSettings } from './store-settings.js';

/**
 * Describes where sessions are stored, for logs: host, port and database, without credentials.
 *
 * @example storePlaceOf({ provider: 'redis' }); // 'Redis at 127.0.0.1:6379, database 0'
 */
export function storePlaceOf(settings: StoreSettings): string {
  if (settings.provider === 'memory') return 'memory: they are gone when this process ends';
  return settings.provider === 'redis' ? placeOfRedis(settings.redis ?? {}) : placeOfDatabase(settings.database ?? {});
}

type Options = Readonly<Record<string, unknown>>;

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
  if (url === undefined) return `SQLite, ${fileOf(database ?? '')}`;
  const place = serverPlaceOf({ url, driverOptions });
  const inSchema = schema === undefined ? '' : `, schema ${JSON.stringify(schema)}`;
  return `${serverNamed(new URL(url).protocol.slice(0, -1))} at ${place.server}, database ${place.database}${inSchema}`;
}

function placeOfDataSource({ options = {} }: { readonly options?: Options }): string {
  const { type, database } = options;
  const isFile = SERVERS[String(type)] === undefined && typeof database === 'string';
  if (isFile) return `SQLite, ${fileOf(database)}`;
  const server = dataSourceServerOf(options);
  const inDatabase = typeof database === 'string' ? `, database ${JSON.stringify(database)}` : '';
  return `${serverNamed(String(type))}${server === undefined ? '' : ` at ${server}`}${inDatabase}`;
}

function serverNamed(type: string): string {
  return SERVERS[type.toLowerCase()] ?? type;
}

function fileOf(path: string): string {
  return path === ':memory:' ? path : resolve(path);
}
