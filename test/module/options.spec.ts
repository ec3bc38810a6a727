import { Redis } from 'ioredis';
import { DataSource } from 'typeorm';
import {
  ConfigurationError,
  InMemorySessionStorage,
  SessionService,
  SessionsModule,
  type SessionsModuleOptions,
} from '../../src/index.js';
import { startApp } from './support/apps.js';

const PROVIDER = 'it must be one of memory, redis, typeorm, vertex, or give a storage of your own.';
const MISSING =
  "The options are missing: forRoot, or the factory of forRootAsync, has to give them, such as { provider: 'memory' }.";
const TTL = 'enabled, sessionSeconds, userStateSeconds, appStateSeconds, cleanupIntervalSeconds, refreshOnRead';
const REDIS = 'url, cluster, connection, tls, prefix, commandTimeoutMs, waitReplicas, client';
const CLIENT = 'redis.client is no client of ioredis; give a Redis or a Cluster, or leave it out.';
const NO_DATABASE = 'database is missing; the typeorm provider needs { database: path }, { url } or { dataSource }.';
const DATABASE_URL =
  'database.url cannot be read (its value is not shown); it must be mysql://, mariadb:// or postgres://, and a file is { database: path }.';
const NO_STORE = 'storage is no store; give an object or a class that implements SessionStorage.';
const LIMIT = 'it must be a whole number from 1 to 86400000.';
const AT_VERTEX = { project: 'p-1', location: 'us-central1' };
const VERTEX =
  'project, location, reasoningEngine, endpoint, timeLimitMs, operationLimitMs, singleProcess, accessToken';
const aClient = new Redis({ lazyConnect: true });
const memory = { provider: 'memory' };

const PG = 'Supported are sslmode, ssl, sslrootcert, sslcert, sslkey, host, application_name, options';
const MY = 'Supported are ssl-mode, ssl, ssl-ca, ssl-cert, ssl-key';
const TLS_KIND =
  "it must be true, false, 'no-verify', or an object of verify ('full', 'ca' or 'none'), ca, cert and key, each PEM text.";
const sql = (url: string, more: object = {}): object => ({ provider: 'typeorm', database: { url, ...more } });
const atRedis = (redis: object): object => ({ provider: 'redis', redis });

const vertexMistakes: readonly (readonly [options: unknown, ...problems: string[]])[] = [
  [{ provider: 'vertex' }, 'vertex is missing; it must be an object, such as { project, location, reasoningEngine }.'],
  [
    { provider: 'vertex', vertex: { reasoningEngine: '77', apiKey: 'hunter2' } },
    `vertex.apiKey is no option; there are ${VERTEX}.`,
    'vertex.project is missing; the vertex provider needs it, or the full resource name of an engine.',
    'vertex.location is missing; the vertex provider needs it, or the full resource name of an engine.',
  ],
  [
    { provider: 'vertex', vertex: { ...AT_VERTEX, reasoningEngine: 'mine', endpoint: 'http://example.com' } },
    'vertex.reasoningEngine is "mine"; it must be the id of a reasoning engine, or projects/…/locations/…/reasoningEngines/….',
    'vertex.endpoint is "http://example.com"; it must be https:// with a host.',
  ],
  [
    { provider: 'vertex', vertex: { ...AT_VERTEX, accessToken: 'hunter2' } },
    'vertex.accessToken must be a function that returns an access token.',
  ],
  [
    {
      provider: 'vertex',
      vertex: AT_VERTEX,
      ttl: { enabled: true, sessionSeconds: 3_600 },
      history: { keepHistory: false },
    },
    'ttl.sessionSeconds must be 0 or at least 86400 with the vertex provider, which keeps sessions for a day.',
    'history.keepHistory must be true with the vertex provider, which cannot remove single events.',
  ],
  [
    { provider: 'memory', vertex: AT_VERTEX },
    'vertex is for the provider vertex, but provider is memory; remove one of the two.',
  ],
];

/** Mistakes that would otherwise lead to a connection in plain text. */
const tlsMistakes: readonly (readonly [options: unknown, ...problems: string[]])[] = [
  [
    sql('mysql://app:hunter2@h/db?tls=true'),
    `database.url has the option tls, which is not supported; remove it. ${MY}. Configure TLS with database.tls.`,
  ],
  [
    sql('mariadb://app:hunter2@h/db?ssl-mode=PREFERRED'),
    'database.url says ssl-mode=PREFERRED, which may connect in plain text; it must be one of disabled, required, verify_ca, verify_identity, no-verify, or leave it to database.tls.',
  ],
  [
    sql('mysql://app:hunter2@h/db?ssl=maybe'),
    'database.url says ssl=maybe, which is not supported; it must be one of true, false, no-verify, or leave it to database.tls.',
  ],
  [
    sql('mysql://app:hunter2@h/db?ssl=true&ssl-mode=REQUIRED'),
    'database.url says ssl and ssl-mode; it must say one of them, once.',
  ],
  [
    sql('postgres://app:hunter2@h/db?sslmode=prefer'),
    'database.url says sslmode=prefer, which may connect in plain text; it must be one of disable, require, verify-ca, verify-full, no-verify, or leave it to database.tls.',
  ],
  [
    sql('postgres://app:hunter2@h/db?channel_binding=require&connect_timeout=5'),
    `database.url has the option channel_binding, which is not supported; remove it. ${PG}.`,
    `database.url has the option connect_timeout, which is not supported; remove it. ${PG}.`,
  ],
  [
    sql('postgres://app@h/db?constructor=1&sslmode=constructor'),
    `database.url has the option constructor, which is not supported; remove it. ${PG}.`,
    'database.url says sslmode=constructor, which is not supported; it must be one of disable, require, verify-ca, verify-full, no-verify, or leave it to database.tls.',
  ],
  [
    sql('postgres://app@h/db?sslmode=disable&sslrootcert=/etc/hosts'),
    'sslmode of database.url switches TLS off, but there is sslrootcert of database.url; remove one of the two.',
    'sslrootcert of database.url names no file of PEM text that can be read; give the path of one.',
  ],
  [
    sql('mysql://app:1?hunter2=@h/db'),
    'database.url has a ? or # that is part of a name or a password; write it as %3F or %23.',
    'database.url names no database; it must end in one, as in mysql://host:port/database.',
  ],
  [
    sql('postgres://app:hunter2@h/db?sslmode=require', { tls: true }),
    'the options of database.url and database.tls both configure TLS; use only one of them.',
  ],
  [
    sql('postgres://app:hunter2@h/db', { tls: true, driverOptions: { ssl: {} } }),
    'database.tls and driverOptions.ssl both configure TLS; use only one of them.',
  ],
  [sql('postgres://h/db', { tls: 'require' }), `database.tls cannot be read (its value is not shown); ${TLS_KIND}`],
  [
    sql('postgres://h/db', { tls: { ca: '/etc/ca.pem' } }),
    `database.tls cannot be read (its value is not shown); ${TLS_KIND}`,
  ],
  [
    { provider: 'typeorm', database: { database: 'a.db', tls: true } },
    'TLS is for servers, and a SQLite file is none; remove database.tls.',
  ],
  [
    { provider: 'typeorm', database: { database: 'libsql://app.example?authToken=hunter2' } },
    'database.database cannot be read (its value is not shown); it must be the path of a SQLite file, and an address is { url }.',
  ],
  [
    { provider: 'typeorm', database: { dataSource: new DataSource({ type: 'postgres' }), tls: true } },
    'database.tls has no effect with database.dataSource; remove one of the two.',
  ],
  [
    atRedis({ url: 'redis://:hunter2@h?ssl_cert_reqs=none' }),
    'redis.url has the option ssl_cert_reqs, which is not supported; remove it. Supported are family. Configure TLS with redis.tls.',
  ],
  [atRedis({ url: 'redis://h?family=5' }), 'redis.url has an invalid family; it must be 0, 4 or 6.'],
  [atRedis({ url: 'rediss://h', tls: false }), 'redis.url says rediss://, but redis.tls switches TLS off.'],
  [
    atRedis({ url: 'redis://h', tls: true, connection: { tls: {} } }),
    'redis.tls and connection.tls both configure TLS; use only one of them.',
  ],
  [atRedis({ client: aClient, tls: true }), 'redis.tls has no effect with redis.client; remove one of the two.'],
];

/** Options that untyped code can pass. */
const mistakes: readonly (readonly [options: unknown, ...problems: unknown[]])[] = [
  [undefined, MISSING],
  [{}, `provider is missing; ${PROVIDER}`],
  [{ provider: 'mongo' }, `provider is "mongo"; ${PROVIDER}`],
  ...['mysql', 'MariaDB', 'mysql2'].map(
    (provider) =>
      [
        { provider },
        `provider is "${provider}"; ${PROVIDER} For MySQL and MariaDB write { provider: 'typeorm', database: { url: 'mysql://user:password@host:3306/database' } }.`,
      ] as const,
  ),
  [
    { provider: 'postgres' },
    `provider is "postgres"; ${PROVIDER} For PostgreSQL write { provider: 'typeorm', database: { url: 'postgres://user:password@host:5432/database' } }.`,
  ],
  [
    { provider: 'sqlite' },
    `provider is "sqlite"; ${PROVIDER} For SQLite write { provider: 'typeorm', database: { database: './data/sessions.db' } }.`,
  ],
  [
    { provider: 'ioredis' },
    `provider is "ioredis"; ${PROVIDER} For Redis write { provider: 'redis', redis: { url: 'redis://host:6379' } }.`,
  ],
  [
    { provider: 'redis', redis: 'redis://localhost' },
    'redis must be an object, such as { url: "redis://localhost:6379" }.',
  ],
  [{ provider: 'redis', redis: { host: 'h' } }, `redis.host is no option; there are ${REDIS}.`],
  [{ provider: 'redis', redis: { client: undefined } }, CLIENT],
  [{ provider: 'redis', redis: { client: {} } }, CLIENT],
  [
    { provider: 'redis', redis: { url: 'mysql://app:hunter2@h' } },
    'redis.url cannot be read (its value is not shown); it must be redis://host:port/number or rediss://…, where the number is that of a database.',
  ],
  [{ provider: 'typeorm' }, NO_DATABASE],
  [
    { provider: 'typeorm', database: './sessions.db' },
    'database is no object; it must be { database: path }, { url } or { dataSource }.',
  ],
  [{ provider: 'typeorm', database: {} }, 'database says none of database, url, dataSource; it must say one of them.'],
  [
    { provider: 'typeorm', database: { database: 'a.db', url: 'mysql://h/db' } },
    'database says database and url of database, url, dataSource; it must say one of them.',
  ],
  [{ provider: 'typeorm', database: { url: 'sqlite:a.db' } }, DATABASE_URL],
  [
    { provider: 'typeorm', database: { url: 'mysql+pymysql://app:hunter2@h/db' } },
    `${DATABASE_URL} Leave out +pymysql: it names a driver of Python.`,
  ],
  [{ provider: 'typeorm', database: { url: 'mysql//app:hunter2@h' } }, DATABASE_URL],
  [
    { provider: 'typeorm', database: { dataSource: undefined } },
    'database.dataSource is no DataSource of TypeORM; give one, or leave it out.',
  ],
  // A configuration service returns strings from the environment, also for other declared types.
  [{ provider: 'redis', redis: { commandTimeoutMs: '2000' } }, `redis.commandTimeoutMs is "2000"; ${LIMIT}`],
  [{ provider: 'redis', redis: { commandTimeoutMs: 3e9 } }, `redis.commandTimeoutMs is 3000000000; ${LIMIT}`],
  [
    { provider: 'redis', redis: { waitReplicas: 1, prefix: '{a}', connection: 'redis://:hunter2@h', cluster: [] } },
    'redis.cluster cannot be read (its value is not shown); it must be a list of nodes, such as [{ host, port }].',
    'redis.connection cannot be read (its value is not shown); it must be an object of settings.',
    'redis.prefix is "{a}"; it must be text without braces.',
    'redis.waitReplicas is 1; it must be { count, timeoutMs }, whole numbers from 1 on, the latter up to 86400000.',
  ],
  [
    { provider: 'redis', redis: { url: 'redis://h', cluster: [{ host: 'h', port: 1 }] } },
    'redis says url and cluster; it must say one of them.',
  ],
  [
    { provider: 'redis', redis: { client: aClient, connection: {} } },
    'redis.connection has no effect with redis.client; remove one of the two.',
  ],
  [
    { provider: 'typeorm', database: { database: 'mysql://app:hunter2@h/db' } },
    'database.database cannot be read (its value is not shown); it must be the path of a SQLite file, and an address is { url }.',
  ],
  [
    { provider: 'typeorm', database: { url: 'mysql://app:hunter2@h' } },
    'database.url names no database; it must end in one, as in mysql://host:port/database.',
  ],
  [
    { provider: 'typeorm', database: { url: 'mysql://h/db', schema: 'agents' } },
    'database.schema is for PostgreSQL only; remove it, or name a postgres:// database.',
  ],
  [
    { provider: 'typeorm', database: { url: 'mysql://h/db', pooler: 'transaction', preparedStatements: false } },
    'database.preparedStatements is for PostgreSQL only; remove it, or name a postgres:// database.',
    'database.pooler is for PostgreSQL only; remove it, or name a postgres:// database.',
  ],
  [
    {
      provider: 'typeorm',
      database: { url: 'postgres://h/db', pooler: 'statement', listenUrl: 'mysql://app:hunter2@h/db' },
    },
    'database.pooler is "statement"; it must be transaction, or left out.',
    'database.listenUrl cannot be read (its value is not shown); it must be postgres://user:password@host:port/database.',
  ],
  [
    { provider: 'typeorm', database: { url: 'postgres://h/db', listenUrl: 'postgres://h/db' } },
    'database.listenUrl is for a pooler; remove it, or set database.pooler to transaction.',
  ],
  [
    { provider: 'typeorm', database: { database: './sessions.db', reads: { url: 'postgres://h/db' } } },
    'database.reads has no effect without the address of a MySQL, MariaDB or PostgreSQL server in database.url; remove it.',
  ],
  [
    { provider: 'typeorm', database: { url: 'postgres://h/db', reads: { url: 'mysql://h/db' } } },
    'database.reads.url is another kind of server than database.url; name its replica.',
  ],
  [
    { provider: 'typeorm', database: { url: 'mysql://h/db', reads: { url: 'mysql://r/db', pooler: 'transaction' } } },
    'database.reads.pooler is for PostgreSQL only; remove it.',
  ],
  [
    { provider: 'typeorm', database: { url: 'postgres://h/db', reads: { maxLagMs: 5_000 } } },
    'database.reads.url is missing; a read replica needs it.',
  ],
  [
    { provider: 'typeorm', database: { url: 'postgres://h/db', reads: { url: 'postgres://r/db', maxLagMs: 1 } } },
    'database.reads.maxLagMs is 1; it must be a whole number from 100 to 3600000.',
  ],
  [
    { provider: 'typeorm', database: { dataSource: new DataSource({ type: 'postgres' }), pooler: 'transaction' } },
    'database.pooler has no effect with database.dataSource; remove one of the two.',
  ],
  [
    { provider: 'typeorm', database: { url: 'postgres://h/db', poolSize: '10', tablePrefix: 'a-b', timeLimitMs: 0 } },
    'database.poolSize is "10"; it must be a whole number from 1 on.',
    'database.tablePrefix is "a-b"; it must be letters from a to z, digits and _, at most 30 of them.',
    `database.timeLimitMs is 0; ${LIMIT}`,
  ],
  [
    { provider: 'typeorm', database: { dataSource: new DataSource({ type: 'postgres' }), tablePrefix: 'a_' } },
    'database.tablePrefix has no effect with database.dataSource; remove one of the two.',
  ],
  ...tlsMistakes,
  ...vertexMistakes,
  [{ ...memory, watchPollMs: 0 }, 'watchPollMs is 0; it must be a whole number from 1 to 2147483647.'],
  [{ ...memory, clock: {} }, 'clock is {}; it must be an object with now().'],
  [{ storage: undefined }, NO_STORE],
  [{ storage: {} }, NO_STORE],
  [{ storage: 'redis' }, NO_STORE],
  [
    { ...memory, redis: { url: 'redis://h' } },
    'redis is for the provider redis, but provider is memory; remove one of the two.',
  ],
  [
    { ...memory, redis: {}, database: {} },
    'redis is for the provider redis, but provider is memory; remove one of the two.',
    'database is for the provider typeorm, but provider is memory; remove one of the two.',
  ],
  [
    { provider: 'redis', redis: { url: 'redis://h' }, database: { database: 'a.db' } },
    'database is for the provider typeorm, but provider is redis; remove one of the two.',
  ],
  [
    { provider: 'typeorm', redis: { url: 'redis://h' }, database: { database: 'a.db' } },
    'redis is for the provider redis, but provider is typeorm; remove one of the two.',
  ],
  [
    { storage: InMemorySessionStorage, ...memory, database: { database: 'a.db' } },
    'provider has no effect with a storage of your own; remove one of the two.',
    'database has no effect with a storage of your own; remove one of the two.',
  ],
  [
    { storage: InMemorySessionStorage, retryAttempts: 3 },
    'retryAttempts has no effect with a storage of your own; remove one of the two.',
  ],
  [{ ...memory, retryAttempts: -1 }, 'retryAttempts is -1; it must be a whole number from 0 on.'],
  [
    { ...memory, tll: {} },
    'tll is no option; did you mean ttl? There are provider, redis, database, vertex, storage, retryAttempts, retryDelayMs, cleanup, retention, titler, watchPollMs, clock, newId, onUnsavedState, onMisspelledField, state, name, isGlobal, history, ttl, limits, usage, quotas, encryption.',
  ],
  [
    { ...memory, state: { shop: {} } },
    'state is {"shop":{}}; it must be what defineState() returns, or an object with that for each app.',
  ],
  [{ ...memory, titler: {} }, 'titler is {}; it must be an object with titleOf(), or a class of such objects.'],
  [
    { ...memory, history: { maxEvent: 5 } },
    expect.stringMatching(/^history.maxEvent is no option; did you mean history.maxEvents\?/),
  ],
  [{ ...memory, event_ttl_seconds: 5 }, expect.stringMatching(/ is no option; did you mean history.eventTtlSeconds\?/)],
  [
    { provider: 'typeorm', database: { database: 'a.db', dbUrl: 'mysql://app:hunter2@h/db' } },
    expect.stringMatching(/^database.dbUrl is no option; did you mean database.url\?/),
  ],
  [{ ...memory, ttl: { seconds: 5 } }, `ttl.seconds is no option; there are ${TTL}.`],
  [{ ...memory, ttl: { sessionSeconds: -1 } }, 'ttl.sessionSeconds is -1; it must be a number of seconds from 0 on.'],
  [
    { ...memory, ttl: { sessionSeconds: Number.NaN } },
    'ttl.sessionSeconds is NaN; it must be a number of seconds from 0 on.',
  ],
  [
    { ...memory, ttl: { sessionSeconds: 60 } },
    'ttl.sessionSeconds has no effect without ttl.enabled; set it to true, or to false.',
  ],
  [
    { ...memory, ttl: { sessionSeconds: 60, refreshOnRead: false } },
    'ttl.sessionSeconds and ttl.refreshOnRead have no effect without ttl.enabled; set it to true, or to false.',
  ],
  [{ ...memory, ttl: { enabled: 'true' } }, 'ttl.enabled is "true"; it must be true or false.'],
  [{ ...memory, ttl: 60 }, 'ttl is 60; it must be an object of settings.'],
  [{ ...memory, history: { maxEvents: 1.5 } }, 'history.maxEvents is 1.5; it must be a whole number from 0 on.'],
  [{ ...memory, limits: { maxDepth: '5' } }, 'limits.maxDepth is "5"; it must be a whole number from 1 on.'],
  [
    { ...memory, cleanup: 'no' },
    `cleanup is "no"; it must be true, false, a cron expression such as '0 3 * * *', or { cron, timeZone }.`,
  ],
  [
    { ...memory, history: { maxEvents: -1 }, limits: { maxDepth: -2 } },
    'history.maxEvents is -1; it must be a whole number from 0 on.',
    'limits.maxDepth is -2; it must be a whole number from 1 on.',
  ],
];

describe('invalid options', () => {
  it.each(mistakes)('are refused when the app starts: %j', async (options, ...problems) => {
    const useFactory = () => options as SessionsModuleOptions;
    const error: unknown = await startApp([SessionsModule.forRootAsync({ useFactory })]).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as ConfigurationError).problems).toEqual(problems);
    expect(String(error)).not.toContain('hunter2');
  });

  it('are refused with a message also if JSON cannot represent them', async () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const options = { ...memory, history: { maxEvents: 5n, numRecentEvents: circular } } as unknown;
    const useFactory = () => options as SessionsModuleOptions;
    await expect(startApp([SessionsModule.forRootAsync({ useFactory })])).rejects.toMatchObject({
      problems: [
        'history.maxEvents is 5n; it must be a whole number from 0 on.',
        'history.numRecentEvents is an object that JSON cannot represent; it must be a whole number from 0 on.',
      ],
    });
  });

  it.each([
    ['forRoot', () => SessionsModule.forRoot(undefined as never)],
    ['forRootAsync', () => SessionsModule.forRootAsync(undefined as never)],
  ])('are refused if %s gets no options', async (_name, make) => {
    await expect(startApp([make()])).rejects.toMatchObject({ code: 'CONFIGURATION_INVALID', problems: [MISSING] });
  });

  it('are refused if forRoot gets them', async () => {
    const options = { provider: 'paper' } as unknown as SessionsModuleOptions;
    await expect(startApp([SessionsModule.forRoot(options)])).rejects.toThrow(`provider is "paper"; ${PROVIDER}`);
  });

  it('create no store, not even a custom one', async () => {
    const made: unknown[] = [];
    class Counted extends InMemorySessionStorage {
      constructor() {
        super();
        made.push(this);
      }
    }
    const options = { storage: Counted, ttl: { sessionSeconds: -1 } };
    await expect(startApp([SessionsModule.forRoot(options)])).rejects.toThrow(ConfigurationError);
    expect(made).toEqual([]);
  });
});

describe('valid options', () => {
  it('include those for a pooler in front of PostgreSQL', async () => {
    const url = 'postgres://u@127.0.0.1:1/d';
    const database = { url, pooler: 'transaction', listenUrl: url, timeLimitMs: 20_000 } as const;
    const error: unknown = await startApp([
      SessionsModule.forRoot({ provider: 'typeorm', database, retryAttempts: 0 }),
    ]).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain('No server listens at 127.0.0.1:1');
  });

  it('can be undefined, as a configuration service returns them', async () => {
    const settings: object = { sessionSeconds: undefined, enabled: undefined };
    const unset: object = { redis: undefined, database: undefined };
    const app = await startApp([
      SessionsModule.forRoot({ provider: 'memory', ...unset, ttl: settings, history: undefined, cleanup: undefined }),
    ]);
    expect(app.get(SessionService, { strict: false })).toBeInstanceOf(SessionService);
    await app.close();
  });
});

describe('an unreachable server', () => {
  it.each([
    [{ provider: 'redis', redis: { url: 'redis://app:hunter2@127.0.0.1:1', commandTimeoutMs: 200 } }],
    [{ provider: 'typeorm', database: { url: 'mysql://app:hunter2@127.0.0.1:1/db', timeLimitMs: 500 } }],
    [
      {
        provider: 'typeorm',
        database: { url: 'postgres://app:hunter2@127.0.0.1:1/db', timeLimitMs: 500, preparedStatements: false },
      },
    ],
  ] as const)('makes the start fail without revealing passwords: %j', async (options) => {
    const error: unknown = await startApp([SessionsModule.forRoot({ ...options, retryAttempts: 0 })]).catch(
      (e: unknown) => e,
    );
    // Jest has its own Error class, so the store passes on driver errors of Node here.
    expect(error).toMatchObject({ code: expect.stringMatching(/^(STORE_UNAVAILABLE|ECONNREFUSED)$/) });
    expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain('hunter2');
  });

  it('is reported for a client that has been ended', async () => {
    const client = new Redis({ lazyConnect: true });
    client.disconnect();
    const redis = { client, commandTimeoutMs: 200 };
    const sessionsModule = SessionsModule.forRoot({ provider: 'redis', redis, retryAttempts: 0 });
    await expect(startApp([sessionsModule])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });
});
