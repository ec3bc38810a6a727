import { sessionsFromEnvironment } from '../../src/config/index.js';
import { mistakeIn } from './support/mistakes.js';

const redis = { SESSIONS_PROVIDER: 'redis', SESSIONS_REDIS_URL: 'redis://localhost' };
const typeorm = { SESSIONS_PROVIDER: 'typeorm', SESSIONS_DATABASE_URL: 'sqlite:./sessions.db' };
const mysql = { SESSIONS_PROVIDER: 'typeorm', MYSQL_HOST: 'db', MYSQL_DB: 'agents' };

const WHOLE = 'it must be a whole number from 0 on.';
const LIMIT = 'it must be a whole number from 1 to 86400000.';
const AT_LEAST_ONE = 'it must be a whole number from 1 on.';
const HOST = 'it must be a host name or an IP address, without port or path.';
const SECONDS = 'it must be a number of seconds from 0 on.';
const FLAG = 'it must be true or false.';
const PORT = 'it must be a whole number from 1 to 65535.';
const REDIS_URL =
  'SESSIONS_REDIS_URL cannot be read (its value is not shown); it must be redis://host:port/number, redis-sentinel://host:port,host:port/name or redis-cluster://host:port,host:port, with rediss in front for TLS.';
const DATABASE_URL =
  'SESSIONS_DATABASE_URL cannot be read (its value is not shown); it must be mysql://user:password@host:port/database, mariadb://…, postgres://… or sqlite:path.';
const NO_DATABASE = 'SESSIONS_DATABASE_URL names no database; it must end in one, as in mysql://host:port/database.';

const RATES = 'appendsPerMinute?, bytesPerDay?, runsPerMinute? } of whole numbers from 0 on.';
const QUOTAS = `it must be { sessions?, storedBytes?, ${RATES}`;

const mistakes: readonly (readonly [env: NodeJS.ProcessEnv, ...problems: string[]])[] = [
  [{ NODE_ENV: 'test', SESSIONS_QUOTAS_USER: '100' }, `SESSIONS_QUOTAS_USER is "100"; ${QUOTAS}`],
  [
    { NODE_ENV: 'test', SESSIONS_QUOTAS_USER: 'sessions=1,sessions=2' },
    `SESSIONS_QUOTAS_USER is "sessions=1,sessions=2"; ${QUOTAS}`,
  ],
  [
    { NODE_ENV: 'test', SESSIONS_QUOTAS_APP: 'session=5' },
    `SESSIONS_QUOTAS_APP is {"session":5}; it must be { sessions?, ${RATES} session is no quota; did you mean sessions?`,
  ],
  [{ SESSIONS_PRESET: 'staging' }, 'SESSIONS_PRESET is "staging"; it must be one of development, test, production.'],
  [{ SESSIONS_PROVIDER: 'mongo' }, 'SESSIONS_PROVIDER is "mongo"; it must be one of memory, redis, typeorm, vertex.'],
  [
    { SESSIONS_PROVIDER: 'mysql' },
    'SESSIONS_PROVIDER is "mysql"; it must be one of memory, redis, typeorm, vertex. For MySQL and MariaDB write SESSIONS_PROVIDER=typeorm and SESSIONS_DATABASE_URL=mysql://user:password@host:3306/database.',
  ],
  [
    { SESSIONS_PROVIDER: 'sqlite' },
    'SESSIONS_PROVIDER is "sqlite"; it must be one of memory, redis, typeorm, vertex. For SQLite write SESSIONS_PROVIDER=typeorm and SESSIONS_DATABASE_URL=sqlite:./data/sessions.db.',
  ],
  [
    { SESSIONS_PROVIDER: 'vertex', SESSIONS_VERTEX_PROJECT: 'p-1' },
    'SESSIONS_VERTEX_LOCATION is missing; the vertex provider needs it, or the full resource name of an engine.',
  ],
  [{ SESSIONS_PROVIDER: 'Redis' }, 'SESSIONS_PROVIDER is "Redis"; it must be one of memory, redis, typeorm, vertex.'],
  [{ NODE_ENV: 'production' }, 'SESSIONS_PROVIDER is missing; it must be one of memory, redis, typeorm, vertex.'],
  [
    { SESSIONS_PRESET: 'production' },
    'SESSIONS_PROVIDER is missing; it must be one of memory, redis, typeorm, vertex.',
  ],
  [{ SESSIONS_PROVIDER: 'redis' }, 'SESSIONS_REDIS_URL is missing; the redis provider needs it, or REDIS_HOST.'],
  [
    { NODE_ENV: 'production', SESSIONS_PROVIDER: 'typeorm' },
    'SESSIONS_DATABASE_URL is missing; the typeorm provider needs it, or MYSQL_HOST and MYSQL_DB.',
  ],
  [{ SESSIONS_PROVIDER: 'typeorm', MYSQL_HOST: 'db' }, 'MYSQL_DB is missing; MYSQL_HOST needs it.'],
  [{ ...redis, SESSIONS_REDIS_URL: 'http://localhost' }, REDIS_URL],
  [{ ...redis, SESSIONS_REDIS_URL: 'redis://' }, REDIS_URL],
  [{ ...redis, SESSIONS_REDIS_URL: 'redis://host:99999' }, REDIS_URL],
  [{ ...redis, SESSIONS_REDIS_URL: 'redis://host/sessions' }, REDIS_URL],
  [{ ...redis, SESSIONS_REDIS_URL: 'redis://:hunter2%zz@host' }, REDIS_URL],
  [{ ...redis, SESSIONS_REDIS_URL: 'redis-sentinel://host:26379' }, REDIS_URL],
  [{ ...redis, SESSIONS_REDIS_URL: 'redis-cluster://host:7000/name' }, REDIS_URL],
  [{ ...redis, SESSIONS_REDIS_URL: 'redis-cluster://host:7000,:7001' }, REDIS_URL],
  [{ ...redis, SESSIONS_REDIS_URL: 'redis-cluster://host:70000' }, REDIS_URL],
  [{ ...redis, SESSIONS_REDIS_URL: 'redis-cluster://hunter2%@host:7000' }, REDIS_URL],
  [{ ...redis, SESSIONS_REDIS_URL: 'redis-cluster://:s@hunter2@host:7000' }, REDIS_URL],
  [
    { ...redis, SESSIONS_REDIS_URL: 'redis://:hunter2@h?ssl=true' },
    'SESSIONS_REDIS_URL has the option ssl, which is not supported; remove it. Supported are family. Configure TLS with SESSIONS_REDIS_TLS.',
  ],
  [
    { ...redis, SESSIONS_REDIS_URL: 'redis-cluster://:hunter2@h:7000,h:7001?tls=true' },
    'SESSIONS_REDIS_URL has the option tls, which is not supported; remove it. Configure TLS with SESSIONS_REDIS_TLS.',
  ],
  [
    { ...redis, SESSIONS_REDIS_URL: 'redis-cluster://:1?hunter2=@h:7000' },
    'SESSIONS_REDIS_URL has a ? or # that is part of a name or a password; write it as %3F or %23.',
  ],
  [
    { ...redis, SESSIONS_REDIS_URL: 'rediss://h', SESSIONS_REDIS_TLS: 'off' },
    'SESSIONS_REDIS_URL says rediss://, but SESSIONS_REDIS_TLS switches TLS off.',
  ],
  [
    { ...redis, SESSIONS_REDIS_URL: 'rediss-cluster://h:7000', SESSIONS_REDIS_TLS: 'off' },
    'SESSIONS_REDIS_URL says rediss-…, but SESSIONS_REDIS_TLS is off; remove one of the two.',
  ],
  [
    { ...redis, SESSIONS_REDIS_TLS: 'true' },
    'SESSIONS_REDIS_TLS is "true"; it must be one of verify, verify-ca, no-verify, off.',
  ],
  [
    { ...redis, SESSIONS_REDIS_TLS: 'off', SESSIONS_REDIS_TLS_CA: '/none', SESSIONS_REDIS_TLS_KEY: '/etc/hosts' },
    'SESSIONS_REDIS_TLS switches TLS off, but there is SESSIONS_REDIS_TLS_CA and SESSIONS_REDIS_TLS_KEY; remove one of the two.',
    'SESSIONS_REDIS_TLS_CERT and SESSIONS_REDIS_TLS_KEY go together; give both or none.',
    'SESSIONS_REDIS_TLS_CA names no file of PEM text that can be read; give the path of one.',
    'SESSIONS_REDIS_TLS_KEY names no file of PEM text that can be read; give the path of one.',
  ],
  [
    { ...typeorm, SESSIONS_DATABASE_URL: 'mysql://app:hunter2@h/db?ssl-mode=PREFERRED' },
    'SESSIONS_DATABASE_URL says ssl-mode=PREFERRED, which may connect in plain text; it must be one of disabled, required, verify_ca, verify_identity, no-verify, or leave it to SESSIONS_DATABASE_TLS.',
  ],
  [
    {
      ...typeorm,
      SESSIONS_DATABASE_URL: 'postgres://app:hunter2@h/db?sslmode=require',
      SESSIONS_DATABASE_TLS: 'verify',
    },
    'the options of SESSIONS_DATABASE_URL and SESSIONS_DATABASE_TLS both configure TLS; use only one of them.',
  ],
  [
    { ...typeorm, SESSIONS_DATABASE_TLS: 'verify' },
    'TLS is for servers, and a SQLite file is none; remove SESSIONS_DATABASE_TLS.',
  ],
  [
    { ...typeorm, SESSIONS_DATABASE_URL: 'sqlite:./sessions.db?mode=ro' },
    'SESSIONS_DATABASE_URL has options behind a ?, and the path of a SQLite file takes none; remove them.',
  ],
  [{ ...redis, SESSIONS_REDIS_PREFIX: 'a{b}' }, 'SESSIONS_REDIS_PREFIX is "a{b}"; it must be text without braces.'],
  [{ ...redis, SESSIONS_REDIS_COMMAND_TIMEOUT_MS: '0' }, `SESSIONS_REDIS_COMMAND_TIMEOUT_MS is 0; ${LIMIT}`],
  // Node fires timers with longer delays immediately.
  [
    { ...redis, SESSIONS_REDIS_COMMAND_TIMEOUT_MS: '3000000000' },
    `SESSIONS_REDIS_COMMAND_TIMEOUT_MS is 3000000000; ${LIMIT}`,
  ],
  [{ ...redis, SESSIONS_REDIS_WAIT_REPLICAS: '-1' }, `SESSIONS_REDIS_WAIT_REPLICAS is -1; ${WHOLE}`],
  [{ SESSIONS_PROVIDER: 'redis', REDIS_HOST: 'h:6380' }, `REDIS_HOST is "h:6380"; ${HOST}`],
  [{ SESSIONS_PROVIDER: 'redis', REDIS_HOST: 'redis://h' }, `REDIS_HOST is "redis://h"; ${HOST}`],
  [
    { SESSIONS_PROVIDER: 'redis', REDIS_HOST: 'redis://:hunter2@h' },
    `REDIS_HOST cannot be read (its value is not shown); ${HOST}`,
  ],
  [
    { SESSIONS_PROVIDER: 'redis', REDIS_HOST: 'h', REDIS_PORT: 'tcp://:hunter2@h:6379' },
    'REDIS_PORT cannot be read (its value is not shown); it must be a whole number from 1 to 65535.',
  ],
  [
    { SESSIONS_PROVIDER: 'redis://:hunter2@h' },
    'SESSIONS_PROVIDER cannot be read (its value is not shown); it must be one of memory, redis, typeorm, vertex.',
  ],
  [{ SESSIONS_PROVIDER: 'redis', REDIS_HOST: 'h', REDIS_PORT: '65536' }, `REDIS_PORT is 65536; ${PORT}`],
  [{ SESSIONS_PROVIDER: 'redis', REDIS_HOST: 'h', REDIS_PORT: '6379x' }, `REDIS_PORT is "6379x"; ${PORT}`],
  [{ SESSIONS_PROVIDER: 'redis', REDIS_HOST: 'h', REDIS_DB: '1.5' }, `REDIS_DB is 1.5; ${WHOLE}`],
  [{ ...typeorm, SESSIONS_DATABASE_URL: 'mongodb://host/db' }, DATABASE_URL],
  [{ ...typeorm, SESSIONS_DATABASE_URL: './sessions.db' }, DATABASE_URL],
  [{ ...typeorm, SESSIONS_DATABASE_URL: 'sqlite://' }, DATABASE_URL],
  [
    { ...typeorm, SESSIONS_DATABASE_URL: 'mysql+pymysql://app:hunter2@h/db' },
    `${DATABASE_URL} Leave out +pymysql: it names a driver of Python.`,
  ],
  [
    { ...typeorm, SESSIONS_DATABASE_URL: 'postgresql+psycopg2://app:hunter2@h/db' },
    `${DATABASE_URL} Leave out +psycopg2: it names a driver of Python.`,
  ],
  [
    { ...typeorm, SESSIONS_DATABASE_URL: 'sqlite+aiosqlite:///./sessions.db' },
    `${DATABASE_URL} Leave out +aiosqlite: it names a driver of Python.`,
  ],
  [
    { ...typeorm, SESSIONS_DATABASE_URL: 'sqlite:///./sessions.db' },
    `${DATABASE_URL} For a path from the current folder write sqlite:./path.`,
  ],
  [{ ...typeorm, SESSIONS_DATABASE_URL: 'file:./sessions.db' }, `${DATABASE_URL} For a SQLite file write sqlite:path.`],
  [
    { ...typeorm, SESSIONS_DATABASE_URL: 'jdbc:postgresql://h/db?password=hunter2' },
    `${DATABASE_URL} Leave out jdbc: and put user and password before the host.`,
  ],
  [{ ...typeorm, SESSIONS_DATABASE_URL: 'postgres://app:hunter2@host:port/db' }, DATABASE_URL],
  [{ ...typeorm, SESSIONS_DATABASE_URL: 'mysql://app:hunter2@host' }, NO_DATABASE],
  [{ ...typeorm, SESSIONS_DATABASE_URL: 'mariadb://host/' }, NO_DATABASE],
  [{ ...mysql, MYSQL_HOST: 'db:3307' }, `MYSQL_HOST is "db:3307"; ${HOST}`],
  [{ ...mysql, MYSQL_HOST: 'db/agents' }, `MYSQL_HOST is "db/agents"; ${HOST}`],
  [{ ...mysql, MYSQL_PORT: '0' }, `MYSQL_PORT is 0; ${PORT}`],
  [{ ...typeorm, SESSIONS_DATABASE_POOL_SIZE: 'ten' }, `SESSIONS_DATABASE_POOL_SIZE is "ten"; ${AT_LEAST_ONE}`],
  [
    { ...typeorm, SESSIONS_DATABASE_COALESCE_APPENDS: 'false' },
    'SESSIONS_DATABASE_COALESCE_APPENDS is not known; docs/configuration.md lists what is.',
  ],
  [
    { ...typeorm, SESSIONS_DATABASE_TABLE_PREFIX: 'my-app' },
    'SESSIONS_DATABASE_TABLE_PREFIX is "my-app"; it must be letters from a to z, digits and _, at most 30 of them.',
  ],
  [
    { ...typeorm, SESSIONS_DATABASE_URL: 'postgres://h/db', SESSIONS_DATABASE_SCHEMA: 'a;b' },
    'SESSIONS_DATABASE_SCHEMA is "a;b"; it must be letters from a to z, digits, _, - and single spaces between words, at most 63 of them.',
  ],
  [
    { ...mysql, SESSIONS_DATABASE_SCHEMA: 'agents' },
    'SESSIONS_DATABASE_SCHEMA is for PostgreSQL only; remove it, or name a postgres:// database.',
  ],
  [{ SESSIONS_REDIS_HOST: 'h' }, 'SESSIONS_REDIS_HOST is not known; did you mean REDIS_HOST?'],
  [{ SESSIONS_HISTORY_MAX_EVENTS: '1e3' }, `SESSIONS_HISTORY_MAX_EVENTS is "1e3"; ${WHOLE}`],
  [{ SESSIONS_HISTORY_MAX_EVENTS: '0x10' }, `SESSIONS_HISTORY_MAX_EVENTS is "0x10"; ${WHOLE}`],
  [{ SESSIONS_HISTORY_KEEP_HISTORY: 'constructor' }, `SESSIONS_HISTORY_KEEP_HISTORY is "constructor"; ${FLAG}`],
  [{ SESSIONS_TTL_ENABLED: '1' }, `SESSIONS_TTL_ENABLED is "1"; ${FLAG}`],
  [
    { SESSIONS_TTL_SESSION_SECONDS: '60' },
    'SESSIONS_TTL_SESSION_SECONDS has no effect without SESSIONS_TTL_ENABLED; set it to true, or to false.',
  ],
  [{ SESSIONS_TTL_SESSION_SECONDS: '1 day' }, `SESSIONS_TTL_SESSION_SECONDS is "1 day"; ${SECONDS}`],
  [{ SESSIONS_TTL_SESSION_SECONDS: '-0.5' }, `SESSIONS_TTL_SESSION_SECONDS is -0.5; ${SECONDS}`],
  [{ SESSIONS_TTL_SESSION_SECONDS: 'Infinity' }, `SESSIONS_TTL_SESSION_SECONDS is "Infinity"; ${SECONDS}`],
  [{ SESSIONS_LIMITS_MAX_EVENT_BYTES: '0' }, `SESSIONS_LIMITS_MAX_EVENT_BYTES is 0; ${AT_LEAST_ONE}`],
  [
    { SESSIONS_LIMITS_MAX_EVENT_BYTES: '99999999999999999999' },
    `SESSIONS_LIMITS_MAX_EVENT_BYTES is 100000000000000000000; ${AT_LEAST_ONE}`,
  ],
  [
    { SESSIONS_PROVIDER: 'redis', SESSIONS_TTL_ENABLED: 'on', SESSIONS_HISTORY_MAX_EVENTS: 'all' },
    `SESSIONS_TTL_ENABLED is "on"; ${FLAG}`,
    `SESSIONS_HISTORY_MAX_EVENTS is "all"; ${WHOLE}`,
    'SESSIONS_REDIS_URL is missing; the redis provider needs it, or REDIS_HOST.',
  ],
  [
    { SESSIONS_PROVIDER: 'redis', SESSIONS_REDIS_URL: 'localhost', SESSIONS_REDIS_WAIT_REPLICAS: 'all' },
    REDIS_URL,
    `SESSIONS_REDIS_WAIT_REPLICAS is "all"; ${WHOLE}`,
  ],
];

describe('an invalid environment', () => {
  it.each(mistakes.map(([env, ...problems]) => ({ env, problems })))(
    'is refused with all problems: $env',
    ({ env, problems }) => {
      const error = mistakeIn(env);
      expect(error.code).toBe('CONFIGURATION_INVALID');
      expect(new Set(error.problems)).toEqual(new Set(problems));
      expect(error.message).toBe(['The configuration of sessions is wrong:', ...error.problems].join('\n  '));
      expect(error.message).not.toContain('hunter2');
    },
  );
});

describe('a valid environment', () => {
  it.each<[env: Readonly<Record<string, string>>, settings: object]>([
    [{}, { provider: 'typeorm', database: { database: './data/sessions.db' } }],
    [{ NODE_ENV: 'staging' }, { provider: 'typeorm', database: { database: './data/sessions.db' } }],
    [{ NODE_ENV: 'test' }, { provider: 'memory' }],
    [{ SESSIONS_PRESET: 'test', NODE_ENV: 'production' }, { provider: 'memory' }],
    [{ SESSIONS_PROVIDER: ' memory ' }, { provider: 'memory' }],
    [{ SESSIONS_PROVIDER: '', NODE_ENV: 'test' }, { provider: 'memory' }],
    [
      { ...typeorm, SESSIONS_DATABASE_URL: 'sqlite:///var/a.db' },
      { provider: 'typeorm', database: { database: '/var/a.db' } },
    ],
    [
      { ...redis, SESSIONS_REDIS_URL: 'redis-cluster://ann:a:b%2C@h:7000,[::1]' },
      {
        provider: 'redis',
        redis: {
          cluster: [
            { host: 'h', port: 7000 },
            { host: '::1', port: 6379 },
          ],
          connection: { username: 'ann', password: 'a:b,' },
        },
      },
    ],
    [
      { ...redis, SESSIONS_REDIS_URL: 'redis-cluster://h:7000, i:7001' },
      {
        provider: 'redis',
        redis: {
          cluster: [
            { host: 'h', port: 7000 },
            { host: 'i', port: 7001 },
          ],
          connection: {},
        },
      },
    ],
    [
      { SESSIONS_PROVIDER: 'redis', REDIS_HOST: '[::1]' },
      { provider: 'redis', redis: { connection: { host: '::1' } } },
    ],
    [
      {
        SESSIONS_DATABASE_URL: 'postgres://h/db',
        SESSIONS_DATABASE_SCHEMA: 'agents',
        SESSIONS_DATABASE_POOLER: 'transaction',
        SESSIONS_DATABASE_LISTEN_URL: 'postgres://direct/db',
      },
      {
        provider: 'typeorm',
        database: {
          url: 'postgres://h/db',
          schema: 'agents',
          pooler: 'transaction',
          listenUrl: 'postgres://direct/db',
        },
      },
    ],
    [
      { SESSIONS_DATABASE_URL: 'postgres://h/db', SESSIONS_DATABASE_READ_URL: 'postgres://replica/db' },
      { provider: 'typeorm', database: { url: 'postgres://h/db', reads: { url: 'postgres://replica/db' } } },
    ],
    [
      { ...redis, SESSIONS_REDIS_URL: 'redis-sentinel://secret@h,i:1/main', SESSIONS_REDIS_WAIT_REPLICAS: '1' },
      {
        provider: 'redis',
        redis: {
          connection: {
            password: 'secret',
            name: 'main',
            sentinels: [
              { host: 'h', port: 26379 },
              { host: 'i', port: 1 },
            ],
          },
          waitReplicas: { count: 1, timeoutMs: 2000 },
        },
      },
    ],
    [
      { ...redis, SESSIONS_REDIS_WAIT_REPLICAS: '2', SESSIONS_REDIS_COMMAND_TIMEOUT_MS: '500' },
      {
        provider: 'redis',
        redis: { url: 'redis://localhost', commandTimeoutMs: 500, waitReplicas: { count: 2, timeoutMs: 500 } },
      },
    ],
    [
      { SESSIONS_PROVIDER: 'redis', REDIS_HOST: 'h', REDIS_PASSWORD: 'p', REDIS_DB: '2' },
      { provider: 'redis', redis: { connection: { host: 'h', password: 'p', db: 2 } } },
    ],
    [
      { ...mysql, MYSQL_USER: 'a@b', MYSQL_PASSWORD: 'p/:' },
      { provider: 'typeorm', database: { url: 'mysql://a%40b:p%2F%3A@db:3306/agents' } },
    ],
    [
      { ...mysql, MYSQL_HOST: '::1' },
      { provider: 'typeorm', database: { url: 'mysql://root@[::1]:3306/agents' } },
    ],
  ])('gives the store settings: %j', (env, settings) => {
    const { history, ttl, limits, quotas, ...store } = sessionsFromEnvironment(env);
    expect({ history, ttl, limits, quotas }).toEqual({ history: {}, ttl: {}, limits: {}, quotas: {} });
    expect(store).toEqual(settings);
  });

  it('gives quotas by name', () => {
    const env = { NODE_ENV: 'test', SESSIONS_QUOTAS_USER: 'sessions=100, storedBytes = 6', SESSIONS_QUOTAS_APP: '' };
    expect(sessionsFromEnvironment(env).quotas).toEqual({ user: { sessions: 100, storedBytes: 6 } });
  });

  it('sets only the named settings', () => {
    const env = {
      NODE_ENV: 'test',
      SESSIONS_HISTORY_MAX_EVENTS: '200',
      SESSIONS_HISTORY_KEEP_HISTORY: 'FALSE',
      SESSIONS_TTL_ENABLED: 'true',
      SESSIONS_TTL_SESSION_SECONDS: '0.5',
      SESSIONS_LIMITS_MAX_EVENT_BYTES: '10',
    };
    expect(sessionsFromEnvironment(env)).toEqual({
      provider: 'memory',
      history: { maxEvents: 200, keepHistory: false },
      ttl: { enabled: true, sessionSeconds: 0.5 },
      limits: { maxEventBytes: 10 },
      quotas: {},
    });
  });
});
