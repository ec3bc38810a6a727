import { problemsOfReads } from './check-reads.js';
import { DEFAULT_TTL } from './session-settings.js';
import { isRecord } from './setting.js';
import { DATABASE, REDIS, VERTEX } from './store-settings.js';
import { type Names, type Options, besides, problemsOfValues, unknownNames } from './option-checks.js';
import type { TlsChoice } from './tls-settings.js';
import { databaseTls, redisTls } from './url-options.js';

/** The options of each store, by name. */
export const STORE_OPTIONS = {
  redis: [...Object.keys(REDIS), 'client'],
  database: [...Object.keys(DATABASE), 'dataSource'],
  vertex: [...Object.keys(VERTEX), 'accessToken'],
} as const;

export function problemsOfRedis(redis: unknown, names: Names, others: readonly string[] = []): readonly string[] {
  if (redis === undefined) return [];
  if (!isRecord(redis)) return ['redis must be an object, such as { url: "redis://localhost:6379" }.'];
  const { client } = redis;
  const problems = [
    ...unknownNames(redis, [...STORE_OPTIONS.redis, ...others], names, 'redis.'),
    ...problemsOfValues(redis, REDIS, names, 'redis.'),
    ...(client === undefined ? [] : besides(redis, 'client', ['connection', 'tls'], { names, before: 'redis.' })),
  ];
  const places = ['url', 'client', 'cluster'].filter((name) => redis[name] !== undefined);
  if (places.length > 1)
    problems.push(`${names.group('redis')} says ${places.join(' and ')}; it must say one of them.`);
  // A client that is undefined by mistake must not mean the local Redis.
  if ('client' in redis && !(isRecord(client) && typeof client.status === 'string' && 'isCluster' in client)) {
    problems.push(`${names.of('redis.client')} is no client of ioredis; give a Redis or a Cluster, or leave it out.`);
  }
  if (problems.length > 0 || client !== undefined) return problems;
  return redisTls(redis, { url: names.of('redis.url'), tls: names.of('redis.tls') }).problems;
}

/** Options that a DataSource has itself. */
const OF_DATA_SOURCES = [
  'tls',
  'poolSize',
  'tablePrefix',
  'schema',
  'preparedStatements',
  'pooler',
  'listenUrl',
  'driverOptions',
];

/** Options that other databases have no use for. */
const OF_POSTGRES = ['schema', 'preparedStatements', 'pooler', 'listenUrl'];

export function problemsOfDatabase(database: unknown, names: Names, others: readonly string[] = []): readonly string[] {
  if (database === undefined || database === null) return names.missingDatabase;
  if (!isRecord(database)) {
    return [`${names.group('database')} is no object; it must be { database: path }, { url } or { dataSource }.`];
  }
  const { dataSource } = database;
  const problems = [
    ...unknownNames(database, [...STORE_OPTIONS.database, ...others], names, 'database.'),
    ...problemsOfValues(database, DATABASE, names, 'database.'),
    ...(dataSource === undefined
      ? []
      : besides(database, 'dataSource', OF_DATA_SOURCES, { names, before: 'database.' })),
  ];
  const all = ['database', 'url', 'dataSource'];
  const places = all.filter((name) => database[name] !== undefined && database[name] !== '');
  if ('dataSource' in database && !(isRecord(dataSource) && 'isInitialized' in dataSource && 'options' in dataSource)) {
    problems.push(`${names.of('database.dataSource')} is no DataSource of TypeORM; give one, or leave it out.`);
  } else if (places.length !== 1) {
    const found = places.length === 0 ? 'none' : places.join(' and ');
    problems.push(`${names.group('database')} says ${found} of ${all.join(', ')}; it must say one of them.`);
  }
  const ofReads = problemsOfReads(database, names);
  return [...problems, ...ofReads, ...(dataSource === undefined ? problemsOfPlace(database, names) : [])];
}

/** What a server needs, and what only servers have. */
function problemsOfPlace(database: Options, names: Names): readonly string[] {
  const { url, tls, driverOptions } = database;
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
  if (/^postgres/i.test(url ?? '')) return [...problems, ...problemsOfPooler(database, names)];
  const idle = OF_POSTGRES.filter((name) => database[name] !== undefined && database[name] !== '');
  return [
    ...problems,
    ...idle.map(
      (name) => `${names.of(`database.${name}`)} is for PostgreSQL only; remove it, or name a postgres:// database.`,
    ),
  ];
}

/** Without a pooler, the connection of `url` gets notifications itself. */
function problemsOfPooler({ pooler, listenUrl, tls }: Options, names: Names): readonly string[] {
  if (!DATABASE.listenUrl.kind.fits(listenUrl)) return [];
  const place = { url: String(listenUrl), tls: tls as TlsChoice | undefined };
  return [
    ...(pooler === undefined
      ? [
          `${names.of('database.listenUrl')} is for a pooler; remove it, or set ${names.of('database.pooler')} to transaction.`,
        ]
      : []),
    ...databaseTls(place, { url: names.of('database.listenUrl'), tls: names.of('database.tls') }).problems,
  ];
}

/** Without an engine, the names of apps are engines, and ids need a project and a region. */
export function problemsOfVertex(vertex: unknown, names: Names, others: readonly string[] = []): readonly string[] {
  if (!isRecord(vertex))
    return [
      `${names.group('vertex')} is missing; it must be an object, such as { project, location, reasoningEngine }.`,
    ];
  const { project, location, reasoningEngine, accessToken } = vertex;
  const isWhole = typeof reasoningEngine === 'string' && reasoningEngine.startsWith('projects/');
  const missing = isWhole ? [] : Object.entries({ project, location }).filter(([, value]) => value === undefined);
  return [
    ...unknownNames(vertex, [...STORE_OPTIONS.vertex, ...others], names, 'vertex.'),
    ...problemsOfValues(vertex, VERTEX, names, 'vertex.'),
    ...missing.map(
      ([name]) =>
        `${names.of(`vertex.${name}`)} is missing; the vertex provider needs it, or the full resource name of an engine.`,
    ),
    ...(accessToken === undefined || typeof accessToken === 'function'
      ? []
      : [`${names.of('vertex.accessToken')} must be a function that returns an access token.`]),
  ];
}

const A_DAY_IN_SECONDS = 86_400;

/** What the sessions of Vertex AI cannot do. */
export function problemsWithVertex({ ttl, history, quotas }: Options): readonly string[] {
  const { enabled, sessionSeconds } = { ...DEFAULT_TTL, ...(isRecord(ttl) ? ttl : {}) };
  const isShort = enabled && sessionSeconds > 0 && sessionSeconds < A_DAY_IN_SECONDS;
  const isTrimmed = isRecord(history) && history.keepHistory === false;
  const areShared = isRecord(quotas) && (quotas.user !== undefined || quotas.app !== undefined);
  return [
    ...(isShort
      ? ['ttl.sessionSeconds must be 0 or at least 86400 with the vertex provider, which keeps sessions for a day.']
      : []),
    ...(isTrimmed
      ? ['history.keepHistory must be true with the vertex provider, which cannot remove single events.']
      : []),
    ...(areShared
      ? [
          'quotas.user and quotas.app are not possible with the vertex provider, where processes share nothing; use quotas.process.',
        ]
      : []),
  ];
}
