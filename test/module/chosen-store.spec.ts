import { sessionsFromEnvironment } from '../../src/config/index.js';
import { mistakeIn } from './support/mistakes.js';

type Mistake = readonly [env: NodeJS.ProcessEnv, ...problems: unknown[]];

const contradictions: readonly Mistake[] = [
  [
    { SESSIONS_PROVIDER: 'memory', SESSIONS_REDIS_URL: 'redis://h', SESSIONS_DATABASE_POOL_SIZE: '5' },
    'SESSIONS_REDIS_URL is for the provider redis, but SESSIONS_PROVIDER is memory; remove one of the two.',
    'SESSIONS_DATABASE_POOL_SIZE is for the provider typeorm, but SESSIONS_PROVIDER is memory; remove one of the two.',
  ],
  [
    { SESSIONS_PROVIDER: 'redis', SESSIONS_REDIS_URL: 'redis://h', SESSIONS_DATABASE_URL: 'sqlite:a.db' },
    'SESSIONS_DATABASE_URL is for the provider typeorm, but SESSIONS_PROVIDER is redis; remove one of the two.',
  ],
  [
    { SESSIONS_PROVIDER: 'typeorm', SESSIONS_DATABASE_URL: 'sqlite:a.db', SESSIONS_REDIS_PREFIX: 'x' },
    'SESSIONS_REDIS_PREFIX is for the provider redis, but SESSIONS_PROVIDER is typeorm; remove one of the two.',
  ],
  [
    { SESSIONS_REDIS_URL: 'redis://h', SESSIONS_DATABASE_URL: 'sqlite:a.db' },
    'SESSIONS_DATABASE_URL is for the provider typeorm, but the provider of SESSIONS_REDIS_URL is redis; remove one of the two.',
  ],
  [
    { SESSIONS_REDIS_PREFIX: 'x', NODE_ENV: 'production' },
    'SESSIONS_REDIS_URL is missing; the redis provider needs it, or REDIS_HOST.',
  ],
  [
    { SESSIONS_REDIS_URL: 'localhost', NODE_ENV: 'production' },
    expect.stringMatching(/^SESSIONS_REDIS_URL cannot be read/),
  ],
];

const typos: readonly Mistake[] = [
  [
    { SESSIONS_REDIS_URI: 'redis://h' },
    'SESSIONS_REDIS_URI is not known; did you mean SESSIONS_REDIS_URL, SESSIONS_REDIS_TLS, or SESSIONS_REDIS_PREFIX?',
  ],
  [
    { SESSIONS_PROVDIER: 'redis' },
    'SESSIONS_PROVDIER is not known; did you mean SESSIONS_PRESET, SESSIONS_PROVIDER, or SESSIONS_CLEANUP?',
  ],
  [{ SESSIONS_TTL_ENABLE: 'yes' }, 'SESSIONS_TTL_ENABLE is not known; did you mean SESSIONS_TTL_ENABLED?'],
  [
    { SESSIONS_STORE: 'hunter2' },
    'SESSIONS_STORE is not known; did you mean SESSIONS_PRESET, SESSIONS_PROVIDER, or SESSIONS_CLEANUP?',
  ],
  [
    { SESSIONS_PROVIDR: 'redis', SESSIONS_HISTORY_MAX_EVENTS: 'all' },
    'SESSIONS_PROVIDR is not known; did you mean SESSIONS_PRESET, SESSIONS_PROVIDER, or SESSIONS_CLEANUP?',
    'SESSIONS_HISTORY_MAX_EVENTS is "all"; it must be a whole number from 0 on.',
  ],
];

describe('store variables', () => {
  it.each(contradictions.map(([env, ...problems]) => ({ env, problems })))(
    'are refused if they contradict each other: $env',
    ({ env, problems }) => {
      expect(mistakeIn(env).problems).toEqual(problems);
    },
  );

  it.each<[env: Readonly<Record<string, string>>, settings: object]>([
    [{ SESSIONS_REDIS_URL: 'redis://h' }, { provider: 'redis', redis: { url: 'redis://h' } }],
    [
      { SESSIONS_REDIS_URL: 'redis://h', NODE_ENV: 'production' },
      { provider: 'redis', redis: { url: 'redis://h' } },
    ],
    [
      { SESSIONS_REDIS_PREFIX: 'x:', REDIS_HOST: 'h' },
      { provider: 'redis', redis: { connection: { host: 'h' }, prefix: 'x:' } },
    ],
    [
      { SESSIONS_DATABASE_URL: 'postgres://h/db', NODE_ENV: 'test' },
      { provider: 'typeorm', database: { url: 'postgres://h/db' } },
    ],
    [
      {
        SESSIONS_VERTEX_PROJECT: 'p-1',
        SESSIONS_VERTEX_LOCATION: 'us-central1',
        SESSIONS_VERTEX_SINGLE_PROCESS: 'true',
      },
      { provider: 'vertex', vertex: { project: 'p-1', location: 'us-central1', singleProcess: true } },
    ],
    [{ REDIS_HOST: 'cache' }, { provider: 'typeorm', database: { database: './data/sessions.db' } }],
    [{ REDIS_HOST: 'cache', NODE_ENV: 'test' }, { provider: 'memory' }],
    [
      { MYSQL_HOST: 'db', MYSQL_DB: 'shop', REDIS_HOST: 'cache' },
      { provider: 'typeorm', database: { database: './data/sessions.db' } },
    ],
    [
      { REDIS_PORT: 'tcp://10.0.0.1:6379', MYSQL_PORT: 'tcp://10.0.0.2:3306', NODE_ENV: 'test' },
      { provider: 'memory' },
    ],
    [
      { SESSIONS_REDIS_URL: 'redis://localhost', REDIS_PORT: 'tcp://10.0.0.1:6379', MYSQL_HOST: 'db:3306' },
      { provider: 'redis', redis: { url: 'redis://localhost' } },
    ],
    [{ SESSIONS_STORE: ' ', SESSION_SECRET: 's', sessions_store: 's', NODE_ENV: 'test' }, { provider: 'memory' }],
  ])('choose the store if they belong to sessions only: %j', (env, settings) => {
    const { history, ttl, limits, quotas, ...store } = sessionsFromEnvironment(env);
    expect({ history, ttl, limits, quotas }).toEqual({ history: {}, ttl: {}, limits: {}, quotas: {} });
    expect(store).toEqual(settings);
  });
});

describe('unknown variables', () => {
  it.each(typos.map(([env, ...problems]) => ({ env, problems })))('are refused: $env', ({ env, problems }) => {
    const error = mistakeIn(env);
    expect(error.problems).toEqual(problems);
    expect(error.message).not.toContain('hunter2');
  });

  it('do not include those that Kubernetes sets for a service named sessions', () => {
    const serviceVariables = {
      SESSIONS_SERVICE_HOST: '10.0.0.3',
      SESSIONS_SERVICE_PORT: '80',
      SESSIONS_SERVICE_PORT_HTTP: '80',
      SESSIONS_PORT: 'tcp://10.0.0.3:80',
      SESSIONS_PORT_80_TCP: 'tcp://10.0.0.3:80',
      SESSIONS_PORT_80_TCP_ADDR: '10.0.0.3',
      SESSIONS_REDIS_SERVICE_HOST: '10.0.0.4',
      SESSIONS_REDIS_PORT: 'tcp://10.0.0.4:6379',
    };
    expect(sessionsFromEnvironment({ NODE_ENV: 'test', ...serviceVariables })).toMatchObject({ provider: 'memory' });
    const withTypo = { NODE_ENV: 'test', ...serviceVariables, SESSIONS_POOL_SIZE: '5' };
    expect(mistakeIn(withTypo).problems).toEqual([
      'SESSIONS_POOL_SIZE is not known; docs/configuration.md lists what is.',
    ]);
    expect(mistakeIn({ NODE_ENV: 'test', SESSIONS_PORT: '80' }).problems).toHaveLength(1);
  });

  it('can be declared as known', () => {
    const env = { NODE_ENV: 'test', SESSIONS_COOKIE: 'sid' };
    expect(() => sessionsFromEnvironment(env)).toThrow('SESSIONS_COOKIE is not known');
    expect(sessionsFromEnvironment(env, { alsoKnown: ['SESSIONS_COOKIE'] })).toMatchObject({ provider: 'memory' });
  });
});
