import { ConfigurationError } from './configuration-error.js';
import { type CheckedVariables, shown, unreadable } from './environment.js';
import type { Preset } from './presets.js';
import { isHost, isIpv6, isReadable, redisAddress } from './redis-address.js';
import { hasSchemas, namesDatabase } from './store-rules.js';
import type { DatabaseSettings, RedisSettings, StoreSettings } from './store-settings.js';
import { type StoreTls, databaseTls, redisTls } from './store-tls.js';
import { tlsFromEnvironment } from './tls-from-environment.js';
import type { TlsChoice } from './tls-settings.js';
import { type UrlNames, hostListProblems } from './url-options.js';
import { STORE_VARIABLES } from './variables.js';

type StoreVariable = keyof typeof STORE_VARIABLES;

/** The settings of the selected store. Only its own variables are required. */
export function storeFromEnvironment(
  variables: CheckedVariables,
  provider: StoreSettings['provider'] | undefined,
  preset: Preset,
): StoreSettings {
  const value = <Value>(name: StoreVariable): Value | undefined =>
    variables.get(STORE_VARIABLES[name].name) as Value | undefined;
  if (provider === 'memory') return { provider };
  if (provider === 'redis') return { provider, redis: redisFrom(value) };
  if (provider === 'typeorm') return { provider, database: databaseFrom(value, preset) };
  throw missing('provider', `it must be ${STORE_VARIABLES.provider.kind.allowed}`);
}

type ValueOf = <Value>(name: StoreVariable) => Value | undefined;

function redisFrom(value: ValueOf): RedisSettings {
  const replicas = value<number>('redisWaitReplicas');
  const commandTimeoutMs = value<number>('redisCommandTimeoutMs');
  const { tls: ofUrl, ...place } = redisPlace(value);
  const tls = tlsOf('redis', value);
  const names = namesOf('redis');
  checkTls(redisTls({ ...place, tls }, names));
  if (ofUrl && tls === false) {
    throw new ConfigurationError([`${names.url} says rediss-…, but ${names.tls} is off; take one of the two away.`]);
  }
  return {
    ...place,
    ...given({ tls: tls ?? ofUrl, prefix: value<string>('redisPrefix'), commandTimeoutMs }),
    ...(replicas && { waitReplicas: { count: replicas, timeoutMs: commandTimeoutMs ?? 2_000 } }),
  };
}

function redisPlace(value: ValueOf): RedisSettings {
  const url = value<string>('redisUrl');
  if (url !== undefined) {
    if (/^rediss?-/.test(url)) checkProblems(hostListProblems(url, namesOf('redis')));
    const address = redisAddress(url);
    if (address) return address;
    throw unreadable(STORE_VARIABLES.redisUrl);
  }
  const host = value<string>('redisHost');
  if (host === undefined) throw missing('redisUrl', 'the redis provider needs it, or REDIS_HOST');
  if (!isHost(host)) throw noHost('redisHost', host);
  return {
    connection: given({
      host: host.replaceAll(/^\[|\]$/g, ''),
      port: value<number>('redisPort'),
      username: value<string>('redisUsername'),
      password: value<string>('redisPassword'),
      db: value<number>('redisDb'),
    }),
  };
}

function databaseFrom(value: ValueOf, preset: Preset): DatabaseSettings {
  const place = databasePlace(value, preset);
  const schema = value<string>('databaseSchema');
  if (schema !== undefined && !hasSchemas(place.url)) {
    const { name } = STORE_VARIABLES.databaseSchema;
    throw new ConfigurationError([`${name} is for PostgreSQL only; take it away, or name a postgres:// database.`]);
  }
  const tls = tlsOf('database', value);
  if (place.url !== undefined) checkTls(databaseTls({ url: place.url, tls }, namesOf('database')));
  else if (tls !== undefined) {
    throw new ConfigurationError([
      'SESSIONS_DATABASE_TLS and what belongs to it are for servers, and a SQLite file is none; take them away.',
    ]);
  }
  return {
    ...place,
    ...given({
      tls,
      schema,
      poolSize: value<number>('databasePoolSize'),
      tablePrefix: value<string>('databaseTablePrefix'),
      timeLimitMs: value<number>('databaseTimeLimitMs'),
      coalesceAppends: value<boolean>('databaseCoalesceAppends'),
      preparedStatements: value<boolean>('databasePreparedStatements'),
    }),
  };
}

function databasePlace(value: ValueOf, preset: Preset): DatabaseSettings {
  const url = value<string>('databaseUrl');
  if (url === undefined) {
    const found = mysqlUrl(value) ?? preset.databaseUrl;
    if (found === undefined) throw missing('databaseUrl', 'the typeorm provider needs it, or MYSQL_HOST and MYSQL_DB');
    return fileOrServer(found);
  }
  const place = fileOrServer(url);
  if (place.url === undefined) return place;
  if (!isReadable(place.url)) throw unreadable(STORE_VARIABLES.databaseUrl);
  if (!namesDatabase(place.url)) {
    const { name } = STORE_VARIABLES.databaseUrl;
    throw new ConfigurationError([`${name} names no database; it must end in one, as in mysql://host:port/database.`]);
  }
  return place;
}

function fileOrServer(url: string): DatabaseSettings {
  const file = /^sqlite:(?:\/\/)?(?<path>.+)$/.exec(url)?.groups?.path;
  if (file?.includes('?')) {
    const { name } = STORE_VARIABLES.databaseUrl;
    throw new ConfigurationError([
      `${name} has options behind a ?, and the path of a SQLite file takes none; take them away.`,
    ]);
  }
  return file === undefined ? { url } : { database: file };
}

function mysqlUrl(value: ValueOf): string | undefined {
  const host = value<string>('mysqlHost');
  if (host === undefined) return undefined;
  const database = value<string>('mysqlDb');
  if (database === undefined) throw missing('mysqlDb', 'MYSQL_HOST needs it');
  const user = encodeURIComponent(value<string>('mysqlUser') ?? 'root');
  const password = encodeURIComponent(value<string>('mysqlPassword') ?? '');
  const login = password === '' ? user : `${user}:${password}`;
  const place = `${isIpv6(host) ? `[${host}]` : host}:${value<number>('mysqlPort') ?? 3306}`;
  const url = `mysql://${login}@${place}/${encodeURIComponent(database)}`;
  if (isHost(host) && isReadable(url)) return url;
  throw noHost('mysqlHost', host);
}

function tlsOf(store: 'redis' | 'database', value: ValueOf): TlsChoice | undefined {
  const named = (variable: StoreVariable): { name: string; value: string | undefined } => ({
    name: STORE_VARIABLES[variable].name,
    value: value<string>(variable),
  });
  return tlsFromEnvironment({
    mode: named(`${store}Tls`),
    ca: named(`${store}TlsCa`),
    cert: named(`${store}TlsCert`),
    key: named(`${store}TlsKey`),
  });
}

function namesOf(store: 'redis' | 'database'): UrlNames {
  return { url: STORE_VARIABLES[`${store}Url`].name, tls: STORE_VARIABLES[`${store}Tls`].name };
}

function checkTls({ problems }: StoreTls): void {
  checkProblems(problems);
}

function checkProblems(problems: readonly string[]): void {
  if (problems.length > 0) throw new ConfigurationError(problems);
}

function noHost(variable: StoreVariable, host: string): ConfigurationError {
  const { name } = STORE_VARIABLES[variable];
  return new ConfigurationError([`${name} ${shown(host)}; it must be a host without port or path.`]);
}

function missing(variable: StoreVariable, what: string): ConfigurationError {
  return new ConfigurationError([`${STORE_VARIABLES[variable].name} is missing; ${what}.`]);
}

/** Drops undefined entries. */
function given<Values extends object>(values: Values): Partial<Values> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<Values>;
}
