import { providerHint } from '../../config/provider-hints.js';
import { isRedisUrl } from '../../config/redis-address.js';
import { hasSchemas, namesDatabase } from '../../config/store-rules.js';
import { databaseTls, redisTls } from '../../config/store-tls.js';
import type { TlsChoice } from '../../config/tls-settings.js';
import { DATABASE_VALUES, type Options, REDIS_VALUES, isRecord, problemsOfValues } from './check-values.js';

const REDIS_PLACES = ['url', 'client', 'cluster'];
const REDIS_NAMES = [...new Set([...REDIS_PLACES, ...Object.keys(REDIS_VALUES)])];
const DATABASE_PLACES = ['database', 'url', 'dataSource'];
const DATABASE_NAMES = [...new Set([...DATABASE_PLACES, ...Object.keys(DATABASE_VALUES)])];
/** Options that a DataSource has itself. */
const OF_DATA_SOURCES = ['tls', 'poolSize', 'tablePrefix', 'schema', 'preparedStatements', 'driverOptions'];

/** Refuses unknown option names. */
export function unknownNames(given: Options, known: readonly string[], what: string, before = ''): string[] {
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  return unknown.map((name) => `${before}${name} ${what}; there are ${known.join(', ')}.`);
}

/** Options that belong to one provider. */
const PROVIDER_OF = { redis: 'redis', database: 'typeorm' } as const;
const PROVIDERS = new Set<unknown>(['memory', 'redis', 'typeorm']);

/** The problems of the chosen store's options. */
export function problemsOfStore(options: Options): string[] {
  const { provider } = options;
  if ('storage' in options) return [...problemsOfCustom(options.storage), ...problemsBesideStorage(options)];
  if (!PROVIDERS.has(provider)) {
    const found = provider === undefined ? 'missing' : JSON.stringify(provider);
    const hint = providerHint(provider);
    const instead = hint && ` For ${hint.name} write ${hint.options}.`;
    return [
      `provider is ${found}; it must be memory, redis or typeorm, or give a storage of your own.${instead ?? ''}`,
    ];
  }
  const astray = storeOptions(options).filter((name) => PROVIDER_OF[name] !== provider);
  return [
    ...(provider === 'redis' ? problemsOfRedis(options.redis) : []),
    ...(provider === 'typeorm' ? problemsOfDatabase(options.database) : []),
    ...astray.map(
      (name) =>
        `${name} is for the provider ${PROVIDER_OF[name]}, but provider is ${JSON.stringify(provider)}; take one of the two away.`,
    ),
  ];
}

function problemsBesideStorage(options: Options): string[] {
  const names = [...(options.provider === undefined ? [] : ['provider']), ...storeOptions(options)];
  return names.map((name) => `${name} says nothing beside a storage of your own; take one of the two away.`);
}

function storeOptions(options: Options): (keyof typeof PROVIDER_OF)[] {
  return (['redis', 'database'] as const).filter((name) => options[name] !== undefined);
}

function problemsOfCustom(storage: unknown): string[] {
  const isStore = typeof storage === 'function' || (isRecord(storage) && typeof storage.append === 'function');
  return isStore ? [] : ['storage is no store; give an object or a class that implements SessionStorage.'];
}

function problemsOfRedis(redis: unknown): string[] {
  if (redis === undefined) return [];
  if (!isRecord(redis)) return ['redis must be an object, such as { url: "redis://localhost:6379" }.'];
  const { client, url } = redis;
  const problems = [
    ...unknownNames(redis, REDIS_NAMES, 'is no option', 'redis.'),
    ...problemsOfValues(redis, REDIS_VALUES, 'redis.'),
    ...(client === undefined ? [] : besides(redis, 'client', ['connection', 'tls'], 'redis.')),
  ];
  const places = REDIS_PLACES.filter((name) => redis[name] !== undefined);
  if (places.length > 1) problems.push(`redis says ${places.join(' and ')}; it must say one of them.`);
  // A client that is undefined by mistake must not mean the local Redis.
  if ('client' in redis && !(isRecord(client) && typeof client.status === 'string' && 'isCluster' in client)) {
    problems.push('redis.client is no client of ioredis; give a Redis or a Cluster, or leave it out.');
  }
  if (url !== undefined && !(typeof url === 'string' && isRedisUrl(url))) {
    problems.push(
      'redis.url cannot be read as an address; it must be redis://host:port/number or rediss://…, where the number is that of a database.',
    );
  }
  // Values of the wrong type are reported already.
  if (problems.length > 0 || client !== undefined) return problems;
  problems.push(...redisTls(redis, { url: 'redis.url', tls: 'redis.tls' }).problems);
  return problems;
}

function problemsOfDatabase(database: unknown): string[] {
  if (!isRecord(database)) {
    return ['database is missing; the typeorm provider needs { database: path }, { url } or { dataSource }.'];
  }
  const problems = [
    ...unknownNames(database, DATABASE_NAMES, 'is no option', 'database.'),
    ...problemsOfValues(database, DATABASE_VALUES, 'database.'),
    ...(database.dataSource === undefined ? [] : besides(database, 'dataSource', OF_DATA_SOURCES, 'database.')),
  ];
  const places = DATABASE_PLACES.filter((name) => database[name] !== undefined && database[name] !== '');
  if ('dataSource' in database && !isDataSource(database.dataSource)) {
    problems.push('database.dataSource is no DataSource of TypeORM; give one, or leave it out.');
  } else if (places.length !== 1) {
    const found = places.length === 0 ? 'none' : places.join(' and ');
    problems.push(`database says ${found} of ${DATABASE_PLACES.join(', ')}; it must say one of them.`);
  }
  return [...problems, ...problemsOfUrl(database)];
}

function problemsOfUrl({ url, tls, dataSource, schema, driverOptions }: Options): string[] {
  if (url !== undefined && !(isUrl(url) && /^(mysql|mariadb|postgres|postgresql):\/\/./i.test(url))) {
    return [
      'database.url cannot be read as an address; it must be mysql://, mariadb:// or postgres://, and a file is { database: path }.',
    ];
  }
  const problems: string[] = [];
  if (url !== undefined) {
    const given = { url, tls: tls as TlsChoice | undefined, ...(isRecord(driverOptions) && { driverOptions }) };
    problems.push(...databaseTls(given, { url: 'database.url', tls: 'database.tls' }).problems);
  } else if (tls !== undefined && dataSource === undefined) {
    problems.push('database.tls is for servers, and a SQLite file is none; leave it out.');
  }
  if (url !== undefined && !namesDatabase(url) && !(isRecord(driverOptions) && 'database' in driverOptions)) {
    problems.push('database.url names no database; it must end in one, as in mysql://host:port/database.');
  }
  if (schema !== undefined && schema !== '' && dataSource === undefined && !hasSchemas(url)) {
    problems.push('database.schema is for PostgreSQL only; leave it out.');
  }
  return problems;
}

/** Options that have no effect beside a client or DataSource of the app. */
function besides(given: Options, own: string, names: readonly string[], before: string): string[] {
  return names
    .filter((name) => given[name] !== undefined)
    .map((name) => `${before}${name} says nothing beside ${before}${own}; take one of the two away.`);
}

function isDataSource(value: unknown): boolean {
  return isRecord(value) && 'isInitialized' in value && 'options' in value;
}

function isUrl(value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value);
}
