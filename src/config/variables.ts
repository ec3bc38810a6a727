import { DEFAULT_HISTORY } from './history.js';
import { DEFAULT_LIMITS } from './limits.js';
import { DEFAULT_TTL } from './ttl.js';
import { providerHint } from './provider-hints.js';
import { LONGEST_TIME_LIMIT_MS, REDIS_PREFIX, SCHEMA_NAME, TABLE_PREFIX } from './store-rules.js';
import { TLS_MODES } from './tls-from-environment.js';
import { type VariableKind, flag, matching, oneOf, port, seconds, text, wholeNumber } from './variable-kinds.js';

/** An environment variable: everything that the checks, the docs and `.env.example` say of it. */
export interface Variable {
  readonly name: string;
  readonly kind: VariableKind;
  readonly meaning: string;
  /** What holds without it, for the docs. */
  readonly otherwise?: string | undefined;
  /** Whether its value is never shown. */
  readonly isSecret?: boolean;
  /** The only store that has a use for it. */
  readonly store?: 'redis' | 'typeorm';
}

/** What begins so is meant for sessions; `REDIS_HOST` and the like may be there for something else. */
export const PREFIX = 'SESSIONS_';

export function isOurs({ name }: Variable): boolean {
  return name.startsWith(PREFIX);
}

/** A variable for one setting of a group, such as `ttl.enabled`. */
export interface SettingVariable extends Variable {
  readonly group: 'history' | 'ttl' | 'limits';
  readonly setting: string;
}

type Row = readonly [setting: string, kind: VariableKind, meaning: string];

function settingsOf<Group extends SettingVariable['group']>(
  group: Group,
  defaults: object,
  rows: readonly Row[],
): SettingVariable[] {
  return rows.map(([setting, kind, meaning]) => ({
    name: `SESSIONS_${group}_${setting.replaceAll(/[A-Z]/g, '_$&')}`.toUpperCase(),
    kind,
    meaning,
    otherwise: String((defaults as Record<string, unknown>)[setting]),
    group,
    setting,
  }));
}

/** What a session shows and keeps, when it expires, and what is accepted. */
export const SETTING_VARIABLES: readonly SettingVariable[] = [
  ...settingsOf('history', DEFAULT_HISTORY, [
    ['maxEvents', wholeNumber(), 'newest events in a view, on append and on read; 0 = all'],
    ['eventTtlSeconds', seconds, 'events older than this leave the view; 0 = none'],
    ['numRecentEvents', wholeNumber(), 'newest events in a view, on read only; 0 = all'],
    ['keepHistory', flag, 'whether events that left the view stay in the log'],
  ]),
  ...settingsOf('ttl', DEFAULT_TTL, [
    ['enabled', flag, 'whether anything expires'],
    ['sessionSeconds', seconds, 'life of a session since it was last read or appended to; 0 = for ever'],
    ['userStateSeconds', seconds, 'the same for `user:` state'],
    ['appStateSeconds', seconds, 'the same for `app:` state'],
    ['cleanupIntervalSeconds', seconds, 'how often expired data is removed; 0 = never'],
    ['refreshOnRead', flag, 'whether reading keeps alive'],
  ]),
  ...settingsOf('limits', DEFAULT_LIMITS, [
    ['maxEventBytes', wholeNumber(1), 'size of an event, or of an initial state, as JSON'],
    ['maxDepth', wholeNumber(1), 'nesting of objects and arrays'],
    ['maxDeltaKeys', wholeNumber(1), 'keys that one event sets and removes'],
    ['maxViewBytes', wholeNumber(1), 'size of the events in a view, as JSON; of more, the newest are shown'],
    [
      'maxPageBytes',
      wholeNumber(1),
      'size of a page of events or sessions, as JSON; a longer one ends early, with a cursor',
    ],
  ]),
];

const REDIS_URL = /^rediss?(-sentinel|-cluster)?:\/\/./;
const DATABASE_URL = /^(mysql|mariadb|postgres|postgresql):\/\/.|^sqlite:(\/\/)?(?!\/\/$)./;

function hintOf(value: unknown): string | undefined {
  const hint = providerHint(value);
  return hint && ` For ${hint.name} write ${hint.variables}.`;
}

/** Which store keeps the sessions, and where it is. */
export const STORE_VARIABLES = {
  preset: {
    name: 'SESSIONS_PRESET',
    kind: oneOf('development', 'test', 'production'),
    meaning: 'defaults for an environment',
    otherwise: 'by `NODE_ENV`, development unless that is test or production',
  },
  provider: {
    name: 'SESSIONS_PROVIDER',
    kind: { ...oneOf('memory', 'redis', 'typeorm'), hint: hintOf },
    meaning: 'the store',
    otherwise: 'the store that other `SESSIONS_` variables name; else by the preset',
  },
  redisUrl: {
    name: 'SESSIONS_REDIS_URL',
    kind: matching(
      REDIS_URL,
      'redis://host:port/number, redis-sentinel://host:port,host:port/name or redis-cluster://host:port,host:port, with rediss in front for TLS',
    ),
    meaning: 'URL of Redis',
    isSecret: true,
    store: 'redis',
  },
  redisHost: {
    name: 'REDIS_HOST',
    kind: text,
    meaning: 'instead of `SESSIONS_REDIS_URL`; chooses no store by itself',
    store: 'redis',
  },
  redisPort: { name: 'REDIS_PORT', kind: port, meaning: 'with `REDIS_HOST`', otherwise: '6379', store: 'redis' },
  redisUsername: { name: 'REDIS_USERNAME', kind: text, meaning: 'with `REDIS_HOST`', store: 'redis' },
  redisPassword: { name: 'REDIS_PASSWORD', kind: text, meaning: 'with `REDIS_HOST`', isSecret: true, store: 'redis' },
  redisDb: { name: 'REDIS_DB', kind: wholeNumber(), meaning: 'with `REDIS_HOST`', otherwise: '0', store: 'redis' },
  redisTls: {
    name: 'SESSIONS_REDIS_TLS',
    kind: oneOf(...TLS_MODES),
    meaning:
      'how connections to Redis are encrypted: verify checks certificate and host, verify-ca the certificate alone, no-verify nothing',
    otherwise: 'as the URL says, else off',
    store: 'redis',
  },
  redisTlsCa: {
    name: 'SESSIONS_REDIS_TLS_CA',
    kind: text,
    meaning: 'file of the certificates that the server may come from, as PEM',
    otherwise: 'the authorities that Node knows',
    store: 'redis',
  },
  redisTlsCert: {
    name: 'SESSIONS_REDIS_TLS_CERT',
    kind: text,
    meaning: 'file of the certificate of this client, for servers that ask for one',
    store: 'redis',
  },
  redisTlsKey: {
    name: 'SESSIONS_REDIS_TLS_KEY',
    kind: text,
    meaning: 'file of its private key',
    store: 'redis',
  },
  redisPrefix: {
    name: 'SESSIONS_REDIS_PREFIX',
    kind: matching(REDIS_PREFIX.pattern, REDIS_PREFIX.allowed),
    meaning: 'in front of all keys',
    otherwise: 'agent-sessions:',
    store: 'redis',
  },
  redisCommandTimeoutMs: {
    name: 'SESSIONS_REDIS_COMMAND_TIMEOUT_MS',
    kind: wholeNumber(1, LONGEST_TIME_LIMIT_MS),
    meaning: 'how long a command may take',
    otherwise: '2000',
    store: 'redis',
  },
  redisWaitReplicas: {
    name: 'SESSIONS_REDIS_WAIT_REPLICAS',
    kind: wholeNumber(),
    meaning: 'replicas that must have a write before it is acknowledged',
    otherwise: '0',
    store: 'redis',
  },
  databaseUrl: {
    name: 'SESSIONS_DATABASE_URL',
    kind: matching(DATABASE_URL, 'mysql://user:password@host:port/database, mariadb://…, postgres://… or sqlite:path'),
    meaning: 'URL of the database',
    otherwise: 'sqlite:./data/sessions.db in development',
    isSecret: true,
    store: 'typeorm',
  },
  mysqlHost: {
    name: 'MYSQL_HOST',
    kind: text,
    meaning: 'instead of `SESSIONS_DATABASE_URL`; chooses no store by itself',
    store: 'typeorm',
  },
  mysqlPort: { name: 'MYSQL_PORT', kind: port, meaning: 'with `MYSQL_HOST`', otherwise: '3306', store: 'typeorm' },
  mysqlUser: { name: 'MYSQL_USER', kind: text, meaning: 'with `MYSQL_HOST`', otherwise: 'root', store: 'typeorm' },
  mysqlPassword: { name: 'MYSQL_PASSWORD', kind: text, meaning: 'with `MYSQL_HOST`', isSecret: true, store: 'typeorm' },
  mysqlDb: { name: 'MYSQL_DB', kind: text, meaning: 'with `MYSQL_HOST`, which needs it', store: 'typeorm' },
  databaseTls: {
    name: 'SESSIONS_DATABASE_TLS',
    kind: oneOf(...TLS_MODES),
    meaning:
      'how connections to a server are encrypted: verify checks certificate and host, verify-ca the certificate alone, no-verify nothing',
    otherwise: 'as the URL says, else off',
    store: 'typeorm',
  },
  databaseTlsCa: {
    name: 'SESSIONS_DATABASE_TLS_CA',
    kind: text,
    meaning: 'file of the certificates that the server may come from, as PEM',
    otherwise: 'the authorities that Node knows',
    store: 'typeorm',
  },
  databaseTlsCert: {
    name: 'SESSIONS_DATABASE_TLS_CERT',
    kind: text,
    meaning: 'file of the certificate of this client, for servers that ask for one',
    store: 'typeorm',
  },
  databaseTlsKey: {
    name: 'SESSIONS_DATABASE_TLS_KEY',
    kind: text,
    meaning: 'file of its private key',
    store: 'typeorm',
  },
  databasePoolSize: {
    name: 'SESSIONS_DATABASE_POOL_SIZE',
    kind: wholeNumber(1),
    meaning: 'connections to a server at most',
    otherwise: '10',
    store: 'typeorm',
  },
  databaseTablePrefix: {
    name: 'SESSIONS_DATABASE_TABLE_PREFIX',
    kind: matching(TABLE_PREFIX.pattern, TABLE_PREFIX.allowed),
    meaning: 'in front of the names of all tables',
    store: 'typeorm',
  },
  databaseSchema: {
    name: 'SESSIONS_DATABASE_SCHEMA',
    kind: matching(SCHEMA_NAME.pattern, SCHEMA_NAME.allowed),
    meaning: 'schema of the tables; PostgreSQL only',
    store: 'typeorm',
  },
  databaseTimeLimitMs: {
    name: 'SESSIONS_DATABASE_TIME_LIMIT_MS',
    kind: wholeNumber(1, LONGEST_TIME_LIMIT_MS),
    meaning: 'how long an operation may take',
    otherwise: '5000',
    store: 'typeorm',
  },
  databaseCoalesceAppends: {
    name: 'SESSIONS_DATABASE_COALESCE_APPENDS',
    kind: flag,
    meaning: 'whether appends that wait together share a transaction',
    otherwise: 'true',
    store: 'typeorm',
  },
  databasePreparedStatements: {
    name: 'SESSIONS_DATABASE_PREPARED_STATEMENTS',
    kind: flag,
    meaning: 'whether PostgreSQL remembers how to run statements; off behind a pooler that shares connections',
    otherwise: 'true',
    store: 'typeorm',
  },
} as const satisfies Readonly<Record<string, Variable>>;

/** All variables, in the order of the docs. */
export const VARIABLES: readonly Variable[] = [...Object.values(STORE_VARIABLES), ...SETTING_VARIABLES];
