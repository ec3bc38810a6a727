import { foreignUrlHint } from './foreign-url.js';
import { READ_VARIABLES, type ReadSettings } from './read-settings.js';
import { type HostAndPort, isRedisUrl } from './redis-address.js';
import { isPostgresUrl, isServerUrl } from './server-url.js';
import {
  type SettingsOf,
  type Variable,
  type VariableSettings,
  flag,
  host,
  isRecord,
  kindOf,
  matching,
  oneOf,
  port,
  settings,
  text,
  toVariables,
  wholeNumber,
} from './setting.js';
import { type TlsChoice, tlsChoice } from './tls-settings.js';

/** Settings of Redis. These types need no optional package. */
export interface RedisSettings {
  /** `redis://` or `rediss://`. */
  readonly url?: string | undefined;
  /** An ioredis client of the app. The app closes it. */
  readonly client?: object | undefined;
  /** Further options of ioredis, such as `password`, or `sentinels` and `name`. */
  readonly connection?: Readonly<Record<string, unknown>> | undefined;
  /** Some nodes of a cluster. */
  readonly cluster?: readonly HostAndPort[] | undefined;
  /** TLS of all connections, including Sentinels and nodes. Default: on for `rediss://`. */
  readonly tls?: TlsChoice | undefined;
  /** Prefix of all keys. Default: `agent-sessions:`. */
  readonly prefix?: string | undefined;
  /** Timeout of a call. Default: 2,000. */
  readonly commandTimeoutMs?: number | undefined;
  /** Acknowledges a write only after this number of replicas has it. */
  readonly waitReplicas?: { readonly count: number; readonly timeoutMs: number } | undefined;
}

/** Settings of a SQL database. */
export interface DatabaseSettings {
  /** Path of a SQLite file. */
  readonly database?: string | undefined;
  /** `mysql://`, `mariadb://` or `postgres://`. */
  readonly url?: string | undefined;
  /** TLS of connections to a server. Default: as in the options of the URL, else off. */
  readonly tls?: TlsChoice | undefined;
  /** A DataSource of the app. The app closes it. Its prefix and schema apply. */
  readonly dataSource?: object | undefined;
  /** Maximum number of connections to a server. Default: 10. */
  readonly poolSize?: number | undefined;
  /** Prefix of all table names. */
  readonly tablePrefix?: string | undefined;
  /** Schema of the tables; PostgreSQL only. */
  readonly schema?: string | undefined;
  /** Whether to use prepared statements of PostgreSQL. Default: true, but false with `pooler`. */
  readonly preparedStatements?: boolean | undefined;
  /** Says that a pooler is in front of PostgreSQL, whose connections belong to a client for a transaction only. */
  readonly pooler?: 'transaction' | undefined;
  /** With a pooler: PostgreSQL without it, for notifications. */
  readonly listenUrl?: string | undefined;
  /** Timeout of an operation. Default: 5,000. */
  readonly timeLimitMs?: number | undefined;
  /** Whether waiting appends share a transaction. Default: true. */
  readonly coalesceAppends?: boolean | undefined;
  /** Further options of the server's driver. */
  readonly driverOptions?: Readonly<Record<string, unknown>> | undefined;
  /** A read replica of the server, for reads that may be a little old. Default: none. */
  readonly reads?: ReadSettings | undefined;
}

/** Settings of sessions in Vertex AI Agent Engine. */
export interface VertexSettings {
  /** The Google Cloud project. */
  readonly project?: string | undefined;
  /** The region, such as `us-central1`. */
  readonly location?: string | undefined;
  /** The engine of app names that name none: its id, or its full resource name. */
  readonly reasoningEngine?: string | undefined;
  /** The address of the API. Default: that of the region. */
  readonly endpoint?: string | undefined;
  /** Timeout of a call, with its retries. Default: 10,000. */
  readonly timeLimitMs?: number | undefined;
  /** How long the service may take to create or delete a session. Default: 30,000. */
  readonly operationLimitMs?: number | undefined;
  /** Declares that no other process writes these sessions. Default: false. */
  readonly singleProcess?: boolean | undefined;
  /** Returns an access token, instead of `google-auth-library`; a new one if the last one was refused. */
  readonly accessToken?: ((isRefused: boolean) => Promise<string>) | undefined;
}

/** The provider of the store, and its settings. */
export type StoreSettings =
  | { readonly provider: 'memory' }
  | { readonly provider: 'redis'; readonly redis?: RedisSettings | undefined }
  | { readonly provider: 'typeorm'; readonly database?: DatabaseSettings | undefined }
  | { readonly provider: 'vertex'; readonly vertex?: VertexSettings | undefined };

/** A day. Sums of limits must fit into a timer. */
const LONGEST_TIME_LIMIT_MS = 86_400_000;

const milliseconds = wholeNumber(1, LONGEST_TIME_LIMIT_MS);

/** The values of the TLS variables. */
export const TLS_MODES = { verify: 'full', 'verify-ca': 'ca', 'no-verify': 'none', off: 'off' } as const;

const tlsMode = oneOf(...Object.keys(TLS_MODES));
const WHAT_IS_VERIFIED = 'verify checks certificate and host, verify-ca the certificate alone, no-verify nothing';

const tlsFiles = (prefix: string): VariableSettings => ({
  [`${prefix}_CA`]: {
    kind: text,
    meaning: 'file of the certificates that the server may come from, as PEM',
    otherwise: 'the authorities that Node knows',
  },
  [`${prefix}_CERT`]: { kind: text, meaning: 'file of the certificate of this client, for servers that ask for one' },
  [`${prefix}_KEY`]: { kind: text, meaning: 'file of its private key' },
});

export const REDIS = {
  url: {
    kind: kindOf(
      'redis://host:port/number or rediss://…, where the number is that of a database',
      (value) => typeof value === 'string' && isRedisUrl(value),
    ),
    variable: {
      kind: matching(
        /^rediss?(-sentinel|-cluster)?:\/\/./,
        'redis://host:port/number, redis-sentinel://host:port,host:port/name or redis-cluster://host:port,host:port, with rediss in front for TLS',
      ),
    },
    meaning: 'URL of Redis',
    isSecret: true,
    otherVariables: {
      REDIS_HOST: { kind: host, meaning: 'instead of `SESSIONS_REDIS_URL`; chooses no store by itself' },
      REDIS_PORT: { kind: port, meaning: 'with `REDIS_HOST`', default: 6379 },
      REDIS_USERNAME: { kind: text, meaning: 'with `REDIS_HOST`' },
      REDIS_PASSWORD: { kind: text, meaning: 'with `REDIS_HOST`', isSecret: true },
      REDIS_DB: { kind: wholeNumber(), meaning: 'with `REDIS_HOST`', default: 0 },
    },
  },
  cluster: {
    kind: kindOf('a list of nodes, such as [{ host, port }]', (value) => Array.isArray(value) && value.length > 0),
    isSecret: true,
  },
  connection: { kind: settings, isSecret: true },
  tls: {
    kind: tlsChoice,
    isSecret: true,
    variable: { kind: tlsMode, isSecret: false },
    meaning: `how connections to Redis are encrypted: ${WHAT_IS_VERIFIED}`,
    otherwise: 'as the URL says, else off',
    otherVariables: tlsFiles('SESSIONS_REDIS_TLS'),
  },
  // Braces would change the cluster slot of keys.
  prefix: {
    kind: matching(/^[^{}]*$/, 'text without braces'),
    meaning: 'in front of all keys',
    default: 'agent-sessions:',
  },
  commandTimeoutMs: { kind: milliseconds, meaning: 'how long a command may take', default: 2_000 },
  waitReplicas: {
    kind: kindOf(
      `{ count, timeoutMs }, whole numbers from 1 on, the latter up to ${LONGEST_TIME_LIMIT_MS}`,
      (value) => isRecord(value) && wholeNumber(1).fits(value.count) && milliseconds.fits(value.timeoutMs),
    ),
    variable: { kind: wholeNumber() },
    meaning: 'replicas that must have a write before it is acknowledged',
    default: 0,
  },
} as const satisfies SettingsOf<Omit<RedisSettings, 'client'>>;

const ADDRESS = /^(sqlite|mysql|mariadb|postgres|postgresql):|^(libsql|https?|wss?):\/\//i;
/** Elsewhere `sqlite:///./path` is a path from the current folder, and as an address it would be one from the root. */
export const SQLITE_URL = /^sqlite:(?:\/\/)?(?<path>(?!\/\/$)(?!\/+\.{1,2}\/).+)$/;

export const DATABASE = {
  database: {
    kind: kindOf(
      'the path of a SQLite file, and an address is { url }',
      (value) => typeof value === 'string' && !ADDRESS.test(value),
    ),
    isSecret: true,
  },
  url: {
    kind: {
      ...kindOf('mysql://, mariadb:// or postgres://, and a file is { database: path }', isServerUrl),
      hint: foreignUrlHint,
    },
    variable: {
      kind: {
        ...kindOf(
          'mysql://user:password@host:port/database, mariadb://…, postgres://… or sqlite:path',
          (value) => isServerUrl(value) || SQLITE_URL.test(String(value)),
        ),
        hint: foreignUrlHint,
      },
    },
    meaning: 'URL of the database',
    otherwise: 'sqlite:./data/sessions.db in development',
    isSecret: true,
    otherVariables: {
      MYSQL_HOST: { kind: host, meaning: 'instead of `SESSIONS_DATABASE_URL`; chooses no store by itself' },
      MYSQL_PORT: { kind: port, meaning: 'with `MYSQL_HOST`', default: 3306 },
      MYSQL_USER: { kind: text, meaning: 'with `MYSQL_HOST`', default: 'root' },
      MYSQL_PASSWORD: { kind: text, meaning: 'with `MYSQL_HOST`', isSecret: true },
      MYSQL_DB: { kind: text, meaning: 'with `MYSQL_HOST`, which needs it' },
    },
  },
  tls: {
    kind: tlsChoice,
    isSecret: true,
    variable: { kind: tlsMode, isSecret: false },
    meaning: `how connections to a server are encrypted: ${WHAT_IS_VERIFIED}`,
    otherwise: 'as the URL says, else off',
    otherVariables: tlsFiles('SESSIONS_DATABASE_TLS'),
  },
  poolSize: { kind: wholeNumber(1), meaning: 'connections to a server at most', default: 10 },
  // Our longest name, that of an index, has 33 characters, and PostgreSQL cuts names after 63.
  tablePrefix: {
    kind: matching(/^\w{0,30}$/, 'letters from a to z, digits and _, at most 30 of them'),
    meaning: 'in front of the names of all tables',
  },
  schema: {
    kind: matching(
      /^(?=.{0,63}$)([\w-]+( [\w-]+)*)?$/,
      'letters from a to z, digits, _, - and single spaces between words, at most 63 of them',
    ),
    meaning: 'schema of the tables; PostgreSQL only',
  },
  timeLimitMs: { kind: milliseconds, meaning: 'how long an operation may take', default: 5_000 },
  coalesceAppends: { kind: flag, default: true },
  preparedStatements: { kind: flag },
  pooler: {
    kind: matching(/^transaction$/, 'transaction, or left out'),
    meaning:
      'says that a pooler such as PgBouncer is in front of PostgreSQL: statements are not prepared, connections get no settings, and nothing listens on them',
    otherwise: 'no pooler',
  },
  listenUrl: {
    kind: kindOf('postgres://user:password@host:port/database', isPostgresUrl),
    meaning: 'URL of the same database without the pooler, for notifications; without it watches poll',
    isSecret: true,
  },
  driverOptions: { kind: settings, isSecret: true },
  reads: { kind: settings, isSecret: true, otherVariables: READ_VARIABLES },
} as const satisfies SettingsOf<Omit<DatabaseSettings, 'dataSource'>>;

export const VERTEX = {
  project: {
    kind: matching(/^[\w.:-]+$/, 'the id of a Google Cloud project'),
    meaning: 'project of the reasoning engines',
  },
  location: {
    kind: matching(/^[a-z0-9-]+$/, 'a region, such as us-central1'),
    meaning: 'region of the reasoning engines',
  },
  reasoningEngine: {
    kind: matching(
      /^(\d+|projects\/[\w.:-]+\/locations\/[a-z0-9-]+\/reasoningEngines\/\d+)$/,
      'the id of a reasoning engine, or projects/…/locations/…/reasoningEngines/…',
    ),
    meaning: 'engine of app names that are not the id or the resource name of one',
  },
  endpoint: {
    // Tokens must not travel in plain text, except to a server of a test.
    kind: matching(
      /^(https:\/\/[^/?#@]+|http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?)\/?$/,
      'https:// with a host',
    ),
    meaning: 'address of the API',
    otherwise: 'that of the region',
  },
  timeLimitMs: { kind: milliseconds, default: 10_000 },
  operationLimitMs: { kind: milliseconds, default: 30_000 },
  singleProcess: {
    kind: flag,
    meaning: 'declares that no other process writes these sessions, so that turns and leases can be in memory',
    default: false,
  },
} as const satisfies SettingsOf<Omit<VertexSettings, 'accessToken'>>;

const provider = oneOf('memory', 'redis', 'typeorm', 'vertex');

/** Which store keeps the sessions. */
export const STORE = {
  preset: {
    kind: oneOf('development', 'test', 'production'),
    meaning: 'defaults for an environment',
    otherwise: 'by `NODE_ENV`, development unless that is test or production',
  },
  provider: {
    kind: provider,
    // Checked with the other options, which knows what to write instead of the name of a database.
    variable: { kind: { ...provider, fits: text.fits } },
    meaning: 'the store',
    otherwise: 'the store that other `SESSIONS_` variables name; else by the preset',
  },
} as const;

/** The options of a store, and the provider that they belong to. */
export const PROVIDER_OF = { redis: 'redis', database: 'typeorm', vertex: 'vertex' } as const;

/** The variables that choose and configure the store, in the order of the docs. */
export const STORE_VARIABLES: readonly Variable[] = [
  ...toVariables('SESSIONS_', '', STORE),
  ...toVariables('SESSIONS_', 'redis', REDIS),
  ...toVariables('SESSIONS_', 'database', DATABASE),
  ...toVariables('SESSIONS_', 'vertex', VERTEX),
];
