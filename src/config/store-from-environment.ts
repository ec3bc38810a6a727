import { ConfigurationError } from './configuration-error.js';
import { type CheckedVariables, shown, unreadable } from './environment.js';
import type { Preset } from './presets.js';
import { isHost, isIpv6, isReadable, redisAddress } from './redis-address.js';
import { hasSchemas, namesDatabase } from './store-rules.js';
import type { DatabaseSettings, RedisSettings, StoreSettings } from './store-settings.js';
import { STORE_VARIABLES } from './variables.js';

type StoreVariable = keyof typeof STORE_VARIABLES;

/** Where the chosen store is. Only what belongs to that store has to be there. */
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
  return {
    ...redisPlace(value),
    ...given({ prefix: value<string>('redisPrefix'), commandTimeoutMs }),
    ...(replicas && { waitReplicas: { count: replicas, timeoutMs: commandTimeoutMs ?? 2_000 } }),
  };
}

function redisPlace(value: ValueOf): RedisSettings {
  const url = value<string>('redisUrl');
  if (url !== undefined) {
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
  return {
    ...place,
    ...given({
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

function noHost(variable: StoreVariable, host: string): ConfigurationError {
  const { name } = STORE_VARIABLES[variable];
  return new ConfigurationError([`${name} ${shown(host)}; it must be a host without port or path.`]);
}

function missing(variable: StoreVariable, what: string): ConfigurationError {
  return new ConfigurationError([`${STORE_VARIABLES[variable].name} is missing; ${what}.`]);
}

/** Without what is not there. */
function given<Values extends object>(values: Values): Partial<Values> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<Values>;
}
