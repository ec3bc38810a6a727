import { ConfigurationError } from './configuration-error.js';
import { problemsOfDatabase, problemsOfRedis, problemsOfVertex, problemsWithVertex } from './check-store-options.js';
import {
  type Names,
  type Options,
  PLAIN_NAMES,
  pathsOf,
  problemsOfGroup,
  problemsOfValues,
  unknownNames,
} from './option-checks.js';
import { ENCRYPTION, problemsOfEncryption } from './encryption-settings.js';
import { COMMON, MODULE_ONLY, SETTING_GROUPS, START } from './session-settings.js';
import { isRecord, shown } from './setting.js';
import { DATABASE, PROVIDER_OF, REDIS, STORE } from './store-settings.js';

type StoreGroup = keyof typeof PROVIDER_OF;

/** What a module has to know before its options are made. */
const OF_MODULE = ['name', 'isGlobal'];

/** The options that belong to no group. */
const ONE_BY_ONE = { ...MODULE_ONLY, ...COMMON };

/** The groups of settings. */
const GROUPS = { ...SETTING_GROUPS, encryption: ENCRYPTION };

const OPTION_NAMES: Names = { ...PLAIN_NAMES, paths: pathsOf({ ...GROUPS, redis: REDIS, database: DATABASE }) };

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
  const known = ['provider', 'redis', 'database', 'vertex', 'storage', ...Object.keys(ONE_BY_ONE)];
  const problems = [
    ...unknownNames(options, [...known, ...OF_MODULE, ...Object.keys(GROUPS)], OPTION_NAMES),
    ...OF_MODULE.filter((name) => name in options).map(
      (name) => `${name} belongs beside useFactory, not into what that returns.`,
    ),
    ...('storage' in options ? problemsOfCustomStore(options) : problemsOfStore(options, OPTION_NAMES)),
    ...Object.entries(GROUPS).flatMap(([group, settings]) =>
      problemsOfGroup(group, settings, options[group], OPTION_NAMES),
    ),
    ...problemsOfEncryption(options, (path) => path),
    ...problemsOfValues(options, ONE_BY_ONE, OPTION_NAMES),
    ...problemsOfCleanup(options, OPTION_NAMES),
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

/** A time without anything that expires would be an option without effect. */
export function problemsOfCleanup({ cleanup, ttl, retention }: Options, names: Names): readonly string[] {
  const isTime = typeof cleanup !== 'boolean' && MODULE_ONLY.cleanup.kind.fits(cleanup);
  const isIdle = isTime && retention === undefined && (!isRecord(ttl) || ttl.enabled === undefined);
  const [time, enabled] = [names.of('cleanup'), names.of('ttl.enabled')];
  return isIdle ? [`${time} has no effect without ${enabled}; set it to true, or to false.`] : [];
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
  const others = [
    ...(provider === undefined ? [] : ['provider']),
    ...givenGroups(options),
    // Such a store is not opened by the module.
    ...Object.keys(START).filter((name) => options[name] !== undefined),
  ];
  return [
    ...(isStore ? [] : ['storage is no store; give an object or a class that implements SessionStorage.']),
    ...others.map((name) => `${name} has no effect with a storage of your own; remove one of the two.`),
  ];
}
