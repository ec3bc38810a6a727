import { isIPv6 } from 'node:net';
import { problemsOfCleanup, problemsOfStore } from './check-options.js';
import { ConfigurationError } from './configuration-error.js';
import { type Names, problemsOfSwitch } from './option-checks.js';
import { type EncryptionOptions, problemsOfEncryption } from './encryption-settings.js';
import { type Reading, optionsIn, problemsOfNames, readVariables } from './read-variables.js';
import { isDecodable, redisAddress } from './redis-address.js';
import {
  type CleanupTimes,
  type HistorySettings,
  type QuotaSettings,
  SETTING_VARIABLES,
  type SessionLimits,
  TTL,
  type TtlSettings,
} from './session-settings.js';
import type { Variable } from './setting.js';
import {
  type DatabaseSettings,
  DATABASE,
  PROVIDER_OF,
  REDIS,
  type RedisSettings,
  SQLITE_URL,
  STORE_VARIABLES,
  type StoreSettings,
  TLS_MODES,
} from './store-settings.js';
import { type TlsChoice, tlsFromText } from './tls-settings.js';
import { hostListProblems } from './url-options.js';

/** The settings of sessions that environment variables can set. */
export type SessionsConfig = StoreSettings & {
  readonly history?: Partial<HistorySettings> | undefined;
  readonly ttl?: Partial<TtlSettings> | undefined;
  readonly limits?: Partial<SessionLimits> | undefined;
  readonly quotas?: Partial<QuotaSettings> | undefined;
  readonly encryption?: EncryptionOptions | undefined;
  readonly cleanup?: CleanupTimes | undefined;
  readonly retryAttempts?: number | undefined;
};

/** Options of the reader. */
export interface EnvironmentReading {
  /** Names with `SESSIONS_` that other code reads. Other unknown names are problems. */
  readonly alsoKnown?: readonly string[] | undefined;
}

const PREFIX = 'SESSIONS_';

/** All variables of sessions, in the order of the docs. */
export const SESSION_VARIABLES: readonly Variable[] = [...STORE_VARIABLES, ...SETTING_VARIABLES];

type Provider = StoreSettings['provider'];

interface Preset {
  readonly provider?: Provider;
  readonly databaseUrl?: string;
}

/** In production there is no default store, since sessions in memory would be lost. */
const PRESETS: Readonly<Record<string, Preset>> = {
  development: { provider: 'typeorm', databaseUrl: 'sqlite:./data/sessions.db' },
  test: { provider: 'memory' },
  production: {},
};

function presetName({ SESSIONS_PRESET, NODE_ENV }: NodeJS.ProcessEnv): string {
  const names = [SESSIONS_PRESET?.trim(), NODE_ENV, 'development'];
  return names.find((name) => name !== undefined && Object.hasOwn(PRESETS, name)) ?? 'development';
}

/** The preset of SESSIONS_PRESET, else of NODE_ENV. Evaluated late, after a file of variables is loaded. */
export function isProduction(env: NodeJS.ProcessEnv): boolean {
  return presetName(env) === 'production';
}

/**
 * Reads the settings of sessions from environment variables. `docs/configuration.md` lists them.
 *
 * @throws ConfigurationError that names each variable that is wrong, missing or unknown
 * @example
 * SessionsModule.forRoot(sessionsFromEnvironment(process.env));
 */
export function sessionsFromEnvironment(
  env: NodeJS.ProcessEnv,
  { alsoKnown = [] }: EnvironmentReading = {},
): SessionsConfig {
  const own = readVariables(env, SESSION_VARIABLES.filter(isOwn));
  const preset = PRESETS[presetName(env)] ?? {};
  const ofStores = STORE_VARIABLES.filter((variable) => findStoreGroup(variable) !== undefined && isSet(variable, own));
  const provider = own.values.get('SESSIONS_PROVIDER');
  const chosenBy = provider === undefined ? ofStores[0] : undefined;
  const reading = withSharedVariables(env, own, provider ?? providerOf(chosenBy));
  const problems = [
    ...problemsOfNames(env, [...SESSION_VARIABLES.map(({ name }) => name), ...alsoKnown], PREFIX),
    ...reading.problems.values(),
  ];
  const store: Record<string, unknown> = { provider: provider ?? providerOf(chosenBy) ?? preset.provider };
  // The group of another store is a problem, even without options.
  for (const group of ofStores.map(findStoreGroup)) if (group) store[group] = {};
  if (store.provider === 'redis') store.redis = redisFrom(reading, problems);
  if (store.provider === 'vertex') store.vertex = optionsIn(reading.values, STORE_VARIABLES, 'vertex');
  if (store.provider === 'typeorm') store.database = databaseFrom(reading, preset, problems);
  const ttl = optionsIn(reading.values, SETTING_VARIABLES, 'ttl');
  const cleanup = reading.values.get('SESSIONS_CLEANUP') as CleanupTimes | undefined;
  const retryAttempts = reading.values.get('SESSIONS_RETRY_ATTEMPTS') as number | undefined;
  const names = namesIn(reading, chosenBy);
  const encryption = encryptionIn(reading);
  problems.push(
    ...problemsOfStore(store, names),
    ...problemsOfSwitch('ttl', TTL, { ...ttl }, names),
    ...problemsOfCleanup({ cleanup, ttl }, names),
    ...problemsOfEncryption({ ...store, encryption }, (path) => names.of(path)),
  );
  if (problems.length > 0) throw new ConfigurationError(problems);
  return {
    ...(store as unknown as StoreSettings),
    history: optionsIn(reading.values, SETTING_VARIABLES, 'history'),
    ttl,
    limits: optionsIn(reading.values, SETTING_VARIABLES, 'limits'),
    quotas: optionsIn(reading.values, SETTING_VARIABLES, 'quotas'),
    ...(encryption && { encryption }),
    ...(cleanup !== undefined && { cleanup }),
    ...(retryAttempts !== undefined && { retryAttempts }),
  };
}

/** A key that cannot be read is a problem already, and none that is missing. */
function encryptionIn({ values, problems }: Reading): EncryptionOptions | undefined {
  const given = optionsIn(values, SETTING_VARIABLES, 'encryption');
  const isWrong = [...problems.keys()].some((name) => name.startsWith(`${PREFIX}ENCRYPTION_KEY`));
  return isWrong || Object.keys(given).length === 0 ? undefined : given;
}

function isOwn({ name }: Variable): boolean {
  return name.startsWith(PREFIX);
}

function isSet({ name }: Variable, { values, problems }: Reading): boolean {
  return values.has(name) || problems.has(name);
}

type Group = keyof typeof PROVIDER_OF;

function findStoreGroup({ path }: Variable): Group | undefined {
  return (['redis', 'database', 'vertex'] as const).find((group) => path.startsWith(`${group}.`));
}

function providerOf(variable: Variable | undefined): Provider | undefined {
  const group = variable && findStoreGroup(variable);
  return group && PROVIDER_OF[group];
}

/** Variables such as REDIS_HOST may belong to other code. They apply to the named provider, unless it has a URL. */
function withSharedVariables(env: NodeJS.ProcessEnv, own: Reading, provider: unknown): Reading {
  const variables = STORE_VARIABLES.filter((variable) => providerOf(variable) === provider && provider !== undefined);
  const hasUrl = variables.some(
    (variable) => isOwn(variable) && variable.path.endsWith('.url') && isSet(variable, own),
  );
  if (hasUrl) return own;
  const shared = readVariables(
    env,
    variables.filter((variable) => !isOwn(variable)),
  );
  return {
    values: new Map([...own.values, ...shared.values]),
    problems: new Map([...own.problems, ...shared.problems]),
  };
}

/** Names settings by the variables that give them. */
function namesIn(reading: Reading, chosenBy: Variable | undefined): Names {
  const given = (path: string): string[] =>
    SESSION_VARIABLES.filter((variable) => `${variable.path}.`.startsWith(`${path}.`) && isSet(variable, reading)).map(
      ({ name }) => name,
    );
  return {
    given,
    group: (path) => path,
    of: (path) => {
      if (path === 'provider' && chosenBy) return `the provider of ${chosenBy.name}`;
      return given(path)[0] ?? SESSION_VARIABLES.find((variable) => variable.path === path)?.name ?? path;
    },
    example: (url) =>
      url.startsWith('redis')
        ? `SESSIONS_PROVIDER=redis and SESSIONS_REDIS_URL=${url}`
        : `SESSIONS_PROVIDER=typeorm and SESSIONS_DATABASE_URL=${url}`,
    insteadOfProvider: '',
    // Reported with the variables that give the address.
    missingDatabase: [],
  };
}

/** The options of Redis. Without an address there are none, and its problem is reported. */
function redisFrom(reading: Reading, problems: string[]): RedisSettings | undefined {
  const { values } = reading;
  const tls = tlsFrom('redis', reading, problems);
  const place = redisPlace(reading, problems);
  if (place === undefined) return undefined;
  if (place.tls && tls === false) {
    problems.push('SESSIONS_REDIS_URL says rediss-…, but SESSIONS_REDIS_TLS is off; remove one of the two.');
  }
  const { url: _address, tls: _mode, waitReplicas: count, ...others } = optionsIn(values, STORE_VARIABLES, 'redis');
  const options: RedisSettings = others;
  return {
    ...place,
    ...options,
    ...(tls !== undefined && { tls }),
    ...(typeof count === 'number' &&
      count > 0 && { waitReplicas: { count, timeoutMs: options.commandTimeoutMs ?? REDIS.commandTimeoutMs.default } }),
  };
}

function redisPlace({ values, problems: wrong }: Reading, problems: string[]): RedisSettings | undefined {
  const given = values.get('SESSIONS_REDIS_URL') as string | undefined;
  if (given !== undefined) {
    const names = { url: 'SESSIONS_REDIS_URL', tls: 'SESSIONS_REDIS_TLS' };
    const isList = /^rediss?-/.test(given);
    // A list of hosts is no URL, and its password may contain #.
    const url = isList ? given.replaceAll('#', '%23') : given;
    const ofList = isList ? hostListProblems(url, names) : [];
    const address = ofList.length > 0 ? undefined : redisAddress(url);
    if (address === undefined) problems.push(...(ofList.length > 0 ? ofList : [unreadable('SESSIONS_REDIS_URL')]));
    return address;
  }
  const host = values.get('REDIS_HOST') as string | undefined;
  if (host === undefined) {
    if (!wrong.has('SESSIONS_REDIS_URL') && !wrong.has('REDIS_HOST')) {
      problems.push('SESSIONS_REDIS_URL is missing; the redis provider needs it, or REDIS_HOST.');
    }
    return undefined;
  }
  const connection = {
    host: host.replaceAll(/^\[|\]$/g, ''),
    port: values.get('REDIS_PORT'),
    username: values.get('REDIS_USERNAME'),
    password: values.get('REDIS_PASSWORD'),
    db: values.get('REDIS_DB'),
  };
  return { connection: Object.fromEntries(Object.entries(connection).filter(([, value]) => value !== undefined)) };
}

/** The options of a database. Without an address there are none, and its problem is reported. */
function databaseFrom(reading: Reading, preset: Preset, problems: string[]): DatabaseSettings | undefined {
  const tls = tlsFrom('database', reading, problems);
  const url = databaseUrl(reading, preset, problems);
  if (url === undefined) return undefined;
  const { url: _address, tls: _mode, ...options } = optionsIn(reading.values, STORE_VARIABLES, 'database');
  const reads = reading.values.get('SESSIONS_DATABASE_READ_URL') as string | undefined;
  const file = SQLITE_URL.exec(url)?.groups?.path;
  if (file?.includes('?')) {
    problems.push(
      'SESSIONS_DATABASE_URL has options behind a ?, and the path of a SQLite file takes none; remove them.',
    );
  }
  return {
    ...(file === undefined ? { url } : { database: file }),
    ...options,
    ...(tls !== undefined && { tls }),
    ...(reads !== undefined && { reads: { url: reads } }),
  };
}

const MYSQL = DATABASE.url.otherVariables;

function databaseUrl({ values, problems: wrong }: Reading, preset: Preset, problems: string[]): string | undefined {
  const url = values.get('SESSIONS_DATABASE_URL') as string | undefined;
  if (url !== undefined || wrong.has('SESSIONS_DATABASE_URL') || wrong.has('MYSQL_HOST')) return url;
  const valueOf = (name: keyof typeof MYSQL): string | undefined => values.get(name) as string | undefined;
  const host = valueOf('MYSQL_HOST');
  if (host === undefined) {
    if (preset.databaseUrl === undefined) {
      problems.push('SESSIONS_DATABASE_URL is missing; the typeorm provider needs it, or MYSQL_HOST and MYSQL_DB.');
    }
    return preset.databaseUrl;
  }
  const database = valueOf('MYSQL_DB');
  if (database === undefined) {
    problems.push('MYSQL_DB is missing; MYSQL_HOST needs it.');
    return undefined;
  }
  const user = encodeURIComponent(valueOf('MYSQL_USER') ?? MYSQL.MYSQL_USER.default);
  const password = valueOf('MYSQL_PASSWORD');
  const login = password === undefined ? user : `${user}:${encodeURIComponent(password)}`;
  const place = `${isIPv6(host) ? `[${host}]` : host}:${Number(values.get('MYSQL_PORT') ?? MYSQL.MYSQL_PORT.default)}`;
  const found = `mysql://${login}@${place}/${encodeURIComponent(database)}`;
  if (isDecodable(found)) return found;
  problems.push(unreadable('MYSQL_HOST'));
  return undefined;
}

function tlsFrom(group: Exclude<Group, 'vertex'>, { values }: Reading, problems: string[]): TlsChoice | undefined {
  const name = `SESSIONS_${group.toUpperCase()}_TLS`;
  const mode = values.get(name) as keyof typeof TLS_MODES | undefined;
  const files = { ca: `${name}_CA`, cert: `${name}_CERT`, key: `${name}_KEY` };
  return tlsFromText(
    {
      mode: mode && { name, verify: TLS_MODES[mode] },
      files,
      nameOf: (file) => file,
      pathOf: (file) => values.get(file) as string | undefined,
    },
    problems,
  );
}

/** For text that fits its pattern, and still cannot be parsed. */
function unreadable(name: string): string {
  const kind = SESSION_VARIABLES.find((variable) => variable.name === name)?.kind;
  return `${name} cannot be read (its value is not shown); it must be ${kind?.allowed}.`;
}
