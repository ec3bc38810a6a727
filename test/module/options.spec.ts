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

const PROVIDER = 'it must be memory, redis or typeorm, or give a storage of your own.';
const TTL = 'enabled, sessionSeconds, userStateSeconds, appStateSeconds, cleanupIntervalSeconds, refreshOnRead';
const REDIS = 'url, client, cluster, connection, prefix, commandTimeoutMs, waitReplicas';
const CLIENT = 'redis.client is no client of ioredis; give a Redis or a Cluster, or leave it out.';
const NO_DATABASE = 'database is missing; the typeorm provider needs { database: path }, { url } or { dataSource }.';
const DATABASE_URL =
  'database.url cannot be read as an address; it must be mysql://, mariadb:// or postgres://, and a file is { database: path }.';
const NO_STORE = 'storage is no store; give an object or a class that implements SessionStorage.';
const LIMIT = 'it must be a whole number from 1 to 86400000.';
const aClient = new Redis({ lazyConnect: true });
const memory = { provider: 'memory' };

/** What a program without types may hand in. */
const mistakes: readonly (readonly [options: unknown, ...problems: string[]])[] = [
  [undefined, 'The options are missing: forRoot, or the factory of forRootAsync, has to give them.'],
  [{}, `provider is missing; ${PROVIDER}`],
  [{ provider: 'mongo' }, `provider is "mongo"; ${PROVIDER}`],
  [
    { provider: 'redis', redis: 'redis://localhost' },
    'redis must be an object, such as { url: "redis://localhost:6379" }.',
  ],
  [{ provider: 'redis', redis: { host: 'h' } }, `redis.host is no option; there are ${REDIS}.`],
  [{ provider: 'redis', redis: { client: undefined } }, CLIENT],
  [{ provider: 'redis', redis: { client: {} } }, CLIENT],
  [
    { provider: 'redis', redis: { url: 'mysql://app:hunter2@h' } },
    'redis.url cannot be read as an address; it must be redis://host:port/number or rediss://…, where the number is that of a database.',
  ],
  [{ provider: 'typeorm' }, NO_DATABASE],
  [{ provider: 'typeorm', database: './sessions.db' }, NO_DATABASE],
  [{ provider: 'typeorm', database: {} }, 'database says none of database, url, dataSource; it must say one of them.'],
  [
    { provider: 'typeorm', database: { database: 'a.db', url: 'mysql://h/db' } },
    'database says database and url of database, url, dataSource; it must say one of them.',
  ],
  [{ provider: 'typeorm', database: { url: 'sqlite:a.db' } }, DATABASE_URL],
  [{ provider: 'typeorm', database: { url: 'mysql//app:hunter2@h' } }, DATABASE_URL],
  [
    { provider: 'typeorm', database: { dataSource: undefined } },
    'database.dataSource is no DataSource of TypeORM; give one, or leave it out.',
  ],
  // As a configuration service reads it from the environment, whatever its type says.
  [{ provider: 'redis', redis: { commandTimeoutMs: '2000' } }, `redis.commandTimeoutMs is "2000"; ${LIMIT}`],
  [{ provider: 'redis', redis: { commandTimeoutMs: 3e9 } }, `redis.commandTimeoutMs is 3000000000; ${LIMIT}`],
  [
    { provider: 'redis', redis: { waitReplicas: 1, prefix: '{a}', connection: 'redis://:hunter2@h', cluster: [] } },
    'redis.connection cannot be read (its value is not shown); it must be an object of settings.',
    'redis.cluster cannot be read (its value is not shown); it must be a list of nodes, such as [{ host, port }].',
    'redis.prefix is "{a}"; it must be text without braces.',
    'redis.waitReplicas is 1; it must be { count, timeoutMs }, whole numbers from 1 on, the latter up to 86400000.',
  ],
  [
    { provider: 'redis', redis: { url: 'redis://h', cluster: [{ host: 'h', port: 1 }] } },
    'redis says url and cluster; it must say one of them.',
  ],
  [
    { provider: 'redis', redis: { client: aClient, connection: {} } },
    'redis.connection says nothing beside redis.client; take one of the two away.',
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
    'database.schema is for PostgreSQL only; leave it out.',
  ],
  [
    { provider: 'typeorm', database: { url: 'postgres://h/db', poolSize: '10', tablePrefix: 'a-b', timeLimitMs: 0 } },
    'database.poolSize is "10"; it must be a whole number from 1 on.',
    'database.tablePrefix is "a-b"; it must be letters from a to z, digits and _, at most 30 of them.',
    `database.timeLimitMs is 0; ${LIMIT}`,
  ],
  [
    { provider: 'typeorm', database: { dataSource: new DataSource({ type: 'postgres' }), tablePrefix: 'a_' } },
    'database.tablePrefix says nothing beside database.dataSource; take one of the two away.',
  ],
  [{ ...memory, watchPollMs: 0 }, 'watchPollMs is 0; it must be a whole number from 1 to 2147483647.'],
  [{ ...memory, clock: {} }, 'clock is {}; it must be an object with now().'],
  [{ storage: undefined }, NO_STORE],
  [{ storage: {} }, NO_STORE],
  [{ storage: 'redis' }, NO_STORE],
  [
    { ...memory, redis: { url: 'redis://h' } },
    'redis is for the provider redis, but provider is "memory"; take one of the two away.',
  ],
  [
    { ...memory, redis: {}, database: {} },
    'redis is for the provider redis, but provider is "memory"; take one of the two away.',
    'database is for the provider typeorm, but provider is "memory"; take one of the two away.',
  ],
  [
    { provider: 'redis', redis: { url: 'redis://h' }, database: { database: 'a.db' } },
    'database is for the provider typeorm, but provider is "redis"; take one of the two away.',
  ],
  [
    { provider: 'typeorm', redis: { url: 'redis://h' }, database: { database: 'a.db' } },
    'redis is for the provider redis, but provider is "typeorm"; take one of the two away.',
  ],
  [
    { storage: InMemorySessionStorage, ...memory, database: { database: 'a.db' } },
    'provider says nothing beside a storage of your own; take one of the two away.',
    'database says nothing beside a storage of your own; take one of the two away.',
  ],
  [
    { ...memory, tll: {} },
    'tll is no option; there are provider, redis, database, storage, cleanup, watchPollMs, clock, newId, history, ttl, limits.',
  ],
  [{ ...memory, ttl: { seconds: 5 } }, `ttl.seconds is no setting; there are ${TTL}.`],
  [{ ...memory, ttl: { sessionSeconds: -1 } }, 'ttl.sessionSeconds is -1; it must be a number from 0 on.'],
  [{ ...memory, ttl: { sessionSeconds: Number.NaN } }, 'ttl.sessionSeconds is NaN; it must be a number from 0 on.'],
  [{ ...memory, ttl: { enabled: 'true' } }, 'ttl.enabled is "true"; it must be a boolean.'],
  [{ ...memory, ttl: 60 }, 'ttl is 60; it must be an object of settings.'],
  [{ ...memory, history: { maxEvents: 1.5 } }, 'history.maxEvents is 1.5; it must be a whole number from 0 on.'],
  [{ ...memory, limits: { maxDepth: '5' } }, 'limits.maxDepth is "5"; it must be a number.'],
  [{ ...memory, cleanup: 'no' }, 'cleanup is "no"; it must be true or false.'],
  [
    { ...memory, history: { maxEvents: -1 }, limits: { maxDepth: -2 } },
    'history.maxEvents is -1; it must be a whole number from 0 on.',
    'limits.maxDepth is -2; it must be a whole number from 0 on.',
  ],
];

describe('options that are wrong', () => {
  it.each(mistakes)('are refused when the app starts: %j', async (options, ...problems) => {
    const useFactory = () => options as SessionsModuleOptions;
    const error: unknown = await startApp([SessionsModule.forRootAsync({ useFactory })]).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as ConfigurationError).problems).toEqual(problems);
    expect(String(error)).not.toContain('hunter2');
  });

  it('are refused in the same way when forRoot gets them', async () => {
    const options = { provider: 'paper' } as unknown as SessionsModuleOptions;
    await expect(startApp([SessionsModule.forRoot(options)])).rejects.toThrow(`provider is "paper"; ${PROVIDER}`);
  });

  it('make no store, not even one of your own', async () => {
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

describe('options that fit', () => {
  it('include each that a pooler in front of PostgreSQL asks for', async () => {
    const database = { url: 'postgres://u@127.0.0.1:1/d', preparedStatements: false, timeLimitMs: 500 };
    const error: unknown = await startApp([SessionsModule.forRoot({ provider: 'typeorm', database })]).catch(
      (thrown: unknown) => thrown,
    );
    expect(String(error)).toContain('Nobody listens at 127.0.0.1:1');
  });

  it('may be undefined one by one, as a configuration service gives what it does not know', async () => {
    const settings: object = { sessionSeconds: undefined, enabled: undefined };
    const unset: object = { redis: undefined, database: undefined };
    const app = await startApp([
      SessionsModule.forRoot({ provider: 'memory', ...unset, ttl: settings, history: undefined, cleanup: undefined }),
    ]);
    expect(app.get(SessionService, { strict: false })).toBeInstanceOf(SessionService);
    await app.close();
  });
});

describe('a server that is not there', () => {
  it.each([
    [{ provider: 'redis', redis: { url: 'redis://app:hunter2@127.0.0.1:1', commandTimeoutMs: 200 } }],
    [{ provider: 'typeorm', database: { url: 'mysql://app:hunter2@127.0.0.1:1/db', timeLimitMs: 500 } }],
    [
      {
        provider: 'typeorm',
        database: { url: 'postgres://app:hunter2@127.0.0.1:1/db', timeLimitMs: 500, preparedStatements: false },
      },
    ],
  ] as const)('stops the start without telling passwords: %j', async (options) => {
    const error: unknown = await startApp([SessionsModule.forRoot(options)]).catch((e: unknown) => e);
    // Jest keeps errors of Node apart from its own, so one that the store would take for a driver's passes as it is.
    expect(error).toMatchObject({ code: expect.stringMatching(/^(STORE_UNAVAILABLE|ECONNREFUSED)$/) });
    expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain('hunter2');
  });

  it('is told of a client that was ended', async () => {
    const client = new Redis({ lazyConnect: true });
    client.disconnect();
    const sessionsModule = SessionsModule.forRoot({ provider: 'redis', redis: { client, commandTimeoutMs: 200 } });
    await expect(startApp([sessionsModule])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });
});
