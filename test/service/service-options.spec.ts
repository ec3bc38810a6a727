import { ConfigurationError, InMemorySessionService, InMemorySessionStorage, SessionService } from '../../src/index.js';
import { RedisSessionService, RedisSessionStorage } from '../../src/redis.js';
import { DatabaseSessionService, TypeOrmSessionStorage } from '../../src/typeorm.js';
import { VertexSessionService, VertexSessionStorage } from '../../src/vertex.js';

/** Options that TypeScript refuses and JavaScript does not. */
const untyped = (options: object): never => options as never;
const storage = new InMemorySessionStorage();
const PLACE = { project: 'p', location: 'us-central1', reasoningEngine: '1' };

/** What somebody writes who knows another system, and how the message goes on. */
const mistakes: readonly {
  readonly name: string;
  readonly make: () => unknown;
  readonly problems: readonly string[];
}[] = [
  {
    name: 'a service in memory with settings of other systems',
    make: () => new InMemorySessionService(untyped({ sessionConfig: { maxEvents: 5 }, summarizerManager: {} })),
    problems: [
      'sessionConfig is no option; its settings are in history and ttl.',
      'summarizerManager is no option; write new SummarizerSessionManager({ sessions }, …), or in Nest SummarizerModule.',
    ],
  },
  {
    name: 'a setting outside of its group',
    make: () => new InMemorySessionService(untyped({ maxEvents: 5, ttl_seconds: 5, session_seconds: 1 })),
    problems: [
      'maxEvents is no option; did you mean history.maxEvents?',
      'ttl_seconds is no option; did you mean ttl.sessionSeconds?',
      'session_seconds is no option; did you mean ttl.sessionSeconds?',
    ],
  },
  {
    name: 'a misspelt group and a misspelt setting',
    make: () => new InMemorySessionService(untyped({ tll: { enabled: true }, history: { maxEvent: 5 } })),
    problems: ['tll is no option; did you mean ttl?', 'history.maxEvent is no option; did you mean history.maxEvents?'],
  },
  {
    name: 'a database with the name of its URL in ADK',
    make: () => new DatabaseSessionService(untyped({ dbUrl: 'sqlite:///./a.db', poolRecycle: 3_600, isAsync: true })),
    problems: [
      'dbUrl is no option; did you mean url?',
      'poolRecycle is no option; a connection that the server closed is replaced. Leave it out.',
      'isAsync is no option; everything is asynchronous. Leave it out.',
      'DatabaseSessionService says none of database, url, dataSource; it must say one of them.',
    ],
  },
  {
    name: 'a database with the URL of a file',
    make: () => new DatabaseSessionService({ url: 'sqlite:///./a.db' }),
    problems: [
      'url cannot be read (its value is not shown); it must be mysql://, mariadb:// or postgres://, and a file is { database: path }.',
    ],
  },
  {
    name: 'a database without options',
    make: () => new DatabaseSessionService(untyped(undefined as never)),
    problems: ['The options of'],
  },
  {
    name: 'a Redis with the options of the module',
    make: () => new RedisSessionService(untyped({ provider: 'redis', redis: { url: 'redis://:hunter2@h' } })),
    problems: [
      'provider is no option; the name of the service says it.',
      'redis is no option; its settings stand beside the others.',
    ],
  },
  {
    name: 'a Redis with a misspelt URL',
    make: () => new RedisSessionService(untyped({ Url: 'redis://:hunter2@h', keyPrefix: 'a', waitReplicas: 1 })),
    problems: [
      'Url is no option; did you mean url?',
      'keyPrefix is no option; did you mean prefix?',
      'waitReplicas is 1; it must be',
    ],
  },
  {
    name: 'a Redis at two places',
    make: () => new RedisSessionService({ url: 'redis://h', cluster: [{ host: 'h', port: 1 }] }),
    problems: ['RedisSessionService says url and cluster; it must say one of them.'],
  },
  {
    name: 'an engine with a lifetime that it cannot have',
    make: () => new VertexSessionService({ ...PLACE, ttl: { enabled: true, sessionSeconds: 60 } }),
    problems: ['ttl.sessionSeconds must be 0 or at least 86400'],
  },
  {
    name: 'an engine with a misspelt region',
    make: () => new VertexSessionService(untyped({ ...PLACE, location: undefined, locaton: 'us-central1' })),
    problems: ['locaton is no option; did you mean location?', 'location is missing;'],
  },
  {
    name: 'a service with parts of the module',
    make: () => new SessionService(untyped({ storage, titler: {}, cleanup: true, limits: { maxDepth: '5' } })),
    problems: [
      'titler is no option; write new SessionTitles({ sessions, titler }).start().',
      'cleanup is no option; only SessionsModule removes expired data by itself; call purgeExpired().',
      'limits.maxDepth is "5"; it must be a whole number from 1 on.',
    ],
  },
  {
    name: 'a service without a store',
    make: () => new SessionService(untyped({})),
    problems: ['storage is no store; give one, such as'],
  },
  {
    name: 'a store with a misspelt option',
    make: () => new RedisSessionStorage(untyped({ urll: 'redis://h' })),
    problems: ['urll is no option; did you mean url?'],
  },
  {
    name: 'a store with an option of its service',
    make: () => new TypeOrmSessionStorage(untyped({ database: ':memory:', pool_size: 3 })),
    problems: ['pool_size is no option; did you mean poolSize?'],
  },
  {
    name: 'an engine with a key',
    make: () => new VertexSessionStorage(untyped({ ...PLACE, apiKey: 'hunter2' })),
    problems: ['apiKey is no option'],
  },
];

describe('options of services without Nest', () => {
  it.each(mistakes)('are refused when the service is made: $name', ({ make, problems }) => {
    const error = thrownBy(make);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as ConfigurationError).problems).toEqual(problems.map((text) => expect.stringContaining(text)));
    expect(String(error)).not.toContain('hunter2');
  });

  it('are those of the store and of the service', async () => {
    const clock = { now: () => 1_700_000_000_000 };
    const settings = { clock, history: { maxEvents: 2 }, ttl: { enabled: true }, limits: { maxDepth: 9 } };
    const sessions = new DatabaseSessionService({ database: ':memory:', timeLimitMs: 9_000, ...settings });
    const session = await sessions.createSession({ appName: 'shop', userId: 'ann' });
    expect(session.createTime).toBe(clock.now());
    await sessions.close();
  });

  it('are known to TypeScript, too', () => {
    const wrong = [
      // @ts-expect-error a setting outside of its group
      () => new InMemorySessionService({ maxEvents: 5 }),
      // @ts-expect-error a misspelt setting
      () => new InMemorySessionService({ ttl: { sesionSeconds: 5 } }),
      // @ts-expect-error an option of ADK for Python
      () => new DatabaseSessionService({ dbUrl: 'sqlite:a.db' }),
      // @ts-expect-error an option of ioredis
      () => new RedisSessionService({ host: 'localhost' }),
      // @ts-expect-error a part of the module
      () => new InMemorySessionService({ titler: { titleOf: () => 'A title' } }),
    ];
    for (const make of wrong) expect(make).toThrow(ConfigurationError);
  });
});

function thrownBy(make: () => unknown): unknown {
  try {
    return make();
  } catch (error) {
    return error;
  }
}
