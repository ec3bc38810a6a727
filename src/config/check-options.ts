import { ConfigurationError } from './configuration-error.js';
import { COMMON, DEFAULT_TTL, SETTING_GROUPS } from './session-settings.js';
import { type Setting, isRecord, problemOf, settings, shown } from './setting.js';
import { DATABASE, PROVIDER_OF, REDIS, STORE, VERTEX } from './store-settings.js';
import type { TlsChoice } from './tls-settings.js';
import { databaseTls, redisTls } from './url-options.js';

type Options = Readonly<Record<string, unknown>>;
type StoreGroup = keyof typeof PROVIDER_OF;

/** How messages name settings: by the paths of options, or by variables. */
export interface Names {
  of(path: string): string;
  /** The names of all that is given for an option or a group. */
  given(path: string): readonly string[];
  /** What to write for a store at a URL. */
  example(url: string): string;
  /** The problem of a provider that needs a database and has none. */
  readonly missingDatabase: readonly string[];
  /** What can replace the provider. */
  readonly insteadOfProvider: string;
}

const OPTION_NAMES: Names = {
  of: (path) => path,
  given: (path) => [path],
  missingDatabase: ['database is missing; the typeorm provider needs { database: path }, { url } or { dataSource }.'],
  example: (url) => {
    if (url.startsWith('redis')) return `{ provider: 'redis', redis: { url: '${url}' } }`;
    const place = url.startsWith('sqlite:') ? `database: '${url.slice('sqlite:'.length)}'` : `url: '${url}'`;
    return `{ provider: 'typeorm', database: { ${place} } }`;
  },
  insteadOfProvider: ', or give a storage of your own',
};

/**
 * Checks options given by code, before anything is opened. Reports all problems at once.
 *
 * @throws ConfigurationError
 */
export function checkModuleOptions(options: unknown): void {
  if (!isRecord(options)) {
    throw new ConfigurationError([
      "The options are missing: forRoot, or the factory of forRootAsync, has to give them, such as { provider: 'memory' }.",
    ]);
  }
  const names = [
    'provider',
    'redis',
    'database',
    'vertex',
    'storage',
    ...Object.keys(COMMON),
    ...Object.keys(SETTING_GROUPS),
  ];
  const problems = [
    ...unknownNames(options, names),
    ...('storage' in options ? problemsOfCustomStore(options) : problemsOfStore(options, OPTION_NAMES)),
    ...Object.entries(SETTING_GROUPS).flatMap(([group, known]) => problemsOfGroup(group, known, options[group])),
    ...problemsOfValues(options, COMMON, OPTION_NAMES),
    ...(options.provider === 'vertex' ? problemsWithVertex(options) : []),
  ];
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/** Checks the provider and the options of its store. */
export function problemsOfStore(options: Options, names: Names): readonly string[] {
  const { provider, redis, database, vertex } = options;
  if (!STORE.provider.kind.fits(provider)) return [problemOfProvider(provider, names)];
  const ofOthers = givenGroups(options).filter((group) => PROVIDER_OF[group] !== provider);
  return [
    ...(provider === 'redis' ? problemsOfRedis(redis, names) : []),
    ...(provider === 'typeorm' ? problemsOfDatabase(database, names) : []),
    ...(provider === 'vertex' ? problemsOfVertex(vertex, names) : []),
    ...ofOthers.flatMap((group) =>
      names
        .given(group)
        .map(
          (name) =>
            `${name} is for the provider ${PROVIDER_OF[group]}, but ${names.of('provider')} is ${String(provider)}; remove one of the two.`,
        ),
    ),
  ];
}

/** Databases that people name as the provider. */
const DATABASES = [
  { alias: /^(mysql2?|mariadb)$/i, name: 'MySQL and MariaDB', url: 'mysql://user:password@host:3306/database' },
  { alias: /^(postgres|postgresql|pg)$/i, name: 'PostgreSQL', url: 'postgres://user:password@host:5432/database' },
  { alias: /^(sqlite3?|better-sqlite3|libsql)$/i, name: 'SQLite', url: 'sqlite:./data/sessions.db' },
  { alias: /^(ioredis|redis-cluster|valkey)$/i, name: 'Redis', url: 'redis://host:6379' },
];

function problemOfProvider(provider: unknown, names: Names): string {
  const found = provider === undefined ? 'is missing' : shown(provider);
  const database = DATABASES.find(({ alias }) => alias.test(String(provider)));
  const hint = database ? ` For ${database.name} write ${names.example(database.url)}.` : '';
  return `${names.of('provider')} ${found}; it must be ${STORE.provider.kind.allowed}${names.insteadOfProvider}.${hint}`;
}

function givenGroups(options: Options): StoreGroup[] {
  return (['redis', 'database', 'vertex'] as const).filter((group) => options[group] !== undefined);
}

function problemsOfCustomStore(options: Options): string[] {
  const { storage, provider } = options;
  const isStore = typeof storage === 'function' || (isRecord(storage) && typeof storage.append === 'function');
  const others = [...(provider === undefined ? [] : ['provider']), ...givenGroups(options)];
  return [
    ...(isStore ? [] : ['storage is no store; give an object or a class that implements SessionStorage.']),
    ...others.map((name) => `${name} has no effect with a storage of your own; remove one of the two.`),
  ];
}

function problemsOfRedis(redis: unknown, names: Names): readonly string[] {
  if (redis === undefined) return [];
  if (!isRecord(redis)) return ['redis must be an object, such as { url: "redis://localhost:6379" }.'];
  const { client } = redis;
  const problems = [
    ...unknownNames(redis, [...Object.keys(REDIS), 'client'], 'redis.'),
    ...problemsOfValues(redis, REDIS, names, 'redis.'),
    ...(client === undefined ? [] : besides(redis, 'client', ['connection', 'tls'], 'redis.')),
  ];
  const places = ['url', 'client', 'cluster'].filter((name) => redis[name] !== undefined);
  if (places.length > 1) problems.push(`redis says ${places.join(' and ')}; it must say one of them.`);
  // A client that is undefined by mistake must not mean the local Redis.
  if ('client' in redis && !(isRecord(client) && typeof client.status === 'string' && 'isCluster' in client)) {
    problems.push('redis.client is no client of ioredis; give a Redis or a Cluster, or leave it out.');
  }
  if (problems.length > 0 || client !== undefined) return problems;
  return redisTls(redis, { url: names.of('redis.url'), tls: names.of('redis.tls') }).problems;
}

/** Options that a DataSource has itself. */
const OF_DATA_SOURCES = ['tls', 'poolSize', 'tablePrefix', 'schema', 'preparedStatements', 'driverOptions'];

function problemsOfDatabase(database: unknown, names: Names): readonly string[] {
  if (!isRecord(database)) return names.missingDatabase;
  const { dataSource } = database;
  const problems = [
    ...unknownNames(database, [...Object.keys(DATABASE), 'dataSource'], 'database.'),
    ...problemsOfValues(database, DATABASE, names, 'database.'),
    ...(dataSource === undefined ? [] : besides(database, 'dataSource', OF_DATA_SOURCES, 'database.')),
  ];
  const all = ['database', 'url', 'dataSource'];
  const places = all.filter((name) => database[name] !== undefined && database[name] !== '');
  if ('dataSource' in database && !(isRecord(dataSource) && 'isInitialized' in dataSource && 'options' in dataSource)) {
    problems.push('database.dataSource is no DataSource of TypeORM; give one, or leave it out.');
  } else if (places.length !== 1) {
    const found = places.length === 0 ? 'none' : places.join(' and ');
    problems.push(`database says ${found} of ${all.join(', ')}; it must say one of them.`);
  }
  return dataSource === undefined ? [...problems, ...problemsOfPlace(database, names)] : problems;
}

/** What a server needs, and what only servers have. */
function problemsOfPlace({ url, tls, schema, driverOptions }: Options, names: Names): readonly string[] {
  if (url !== undefined && !(typeof url === 'string' && DATABASE.url.kind.fits(url))) return [];
  const problems: string[] = [];
  const options = isRecord(driverOptions) ? driverOptions : {};
  if (url !== undefined) {
    const place = { url, tls: tls as TlsChoice | undefined, driverOptions: options };
    problems.push(...databaseTls(place, { url: names.of('database.url'), tls: names.of('database.tls') }).problems);
    const needsDatabase = /^(mysql|mariadb):/i.test(url) && new URL(url).pathname.length <= 1;
    if (needsDatabase && !('database' in options)) {
      problems.push(
        `${names.of('database.url')} names no database; it must end in one, as in mysql://host:port/database.`,
      );
    }
  } else if (tls !== undefined) {
    const given = names.given('database.tls').join(' and ');
    problems.push(`TLS is for servers, and a SQLite file is none; remove ${given}.`);
  }
  if (schema !== undefined && schema !== '' && !/^postgres/i.test(url ?? '')) {
    problems.push(`${names.of('database.schema')} is for PostgreSQL only; remove it, or name a postgres:// database.`);
  }
  return problems;
}

/** Without an engine, the names of apps are engines, and ids need a project and a region. */
function problemsOfVertex(vertex: unknown, names: Names): readonly string[] {
  if (!isRecord(vertex))
    return ['vertex is missing; it must be an object, such as { project, location, reasoningEngine }.'];
  const { project, location, reasoningEngine, accessToken } = vertex;
  const isWhole = typeof reasoningEngine === 'string' && reasoningEngine.startsWith('projects/');
  const missing = isWhole ? [] : Object.entries({ project, location }).filter(([, value]) => value === undefined);
  return [
    ...unknownNames(vertex, [...Object.keys(VERTEX), 'accessToken'], 'vertex.'),
    ...problemsOfValues(vertex, VERTEX, names, 'vertex.'),
    ...missing.map(
      ([name]) =>
        `${names.of(`vertex.${name}`)} is missing; the vertex provider needs it, or the full resource name of an engine.`,
    ),
    ...(accessToken === undefined || typeof accessToken === 'function'
      ? []
      : ['vertex.accessToken must be a function that returns an access token.']),
  ];
}

const A_DAY_IN_SECONDS = 86_400;

/** What the sessions of Vertex AI cannot do. */
function problemsWithVertex({ ttl, history }: Options): readonly string[] {
  const { enabled, sessionSeconds } = { ...DEFAULT_TTL, ...(isRecord(ttl) ? ttl : {}) };
  const isShort = enabled && sessionSeconds > 0 && sessionSeconds < A_DAY_IN_SECONDS;
  const isTrimmed = isRecord(history) && history.keepHistory === false;
  return [
    ...(isShort
      ? ['ttl.sessionSeconds must be 0 or at least 86400 with the vertex provider, which keeps sessions for a day.']
      : []),
    ...(isTrimmed
      ? ['history.keepHistory must be true with the vertex provider, which cannot remove single events.']
      : []),
  ];
}

/** Checks each setting separately, so that one problem does not hide the next. */
export function problemsOfGroup(group: string, known: Readonly<Record<string, Setting>>, given: unknown): string[] {
  if (!isRecord(given)) return [problemOf(group, { kind: settings }, given) ?? []].flat();
  return [
    ...unknownNames(given, Object.keys(known), `${group}.`),
    ...problemsOfValues(given, known, OPTION_NAMES, `${group}.`),
  ];
}

function problemsOfValues(
  given: Options,
  known: Readonly<Record<string, Setting>>,
  names: Names,
  before = '',
): string[] {
  return Object.entries(known).flatMap(
    ([name, setting]) => problemOf(names.of(`${before}${name}`), setting, given[name]) ?? [],
  );
}

function unknownNames(given: Options, known: readonly string[], before = ''): string[] {
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  return unknown.map((name) => `${before}${name} is no option; there are ${known.join(', ')}.`);
}

/** Options that have no effect beside a client or DataSource of the app. */
function besides(given: Options, own: string, others: readonly string[], before: string): string[] {
  return others
    .filter((name) => given[name] !== undefined)
    .map((name) => `${before}${name} has no effect with ${before}${own}; remove one of the two.`);
}
