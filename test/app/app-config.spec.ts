import { readFileSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { configurationFrom } from '../../src/config/app.config.js';
import { APP_ROWS } from '../../src/config/app-rows.js';
import { ConfigurationError } from '../../src/config/index.js';
import { isProduction } from '../../src/config/sessions-environment.js';

const KEYS = JSON.stringify([{ name: 'ci', preset: 'service', hash: `sha256-${'A'.repeat(43)}` }]);
const WHOLE = 'it must be a whole number from 0 to 65535.';
const NO_ACCESS = expect.stringMatching(
  /^SESSIONS_ACCESS is missing; this app gives everyone access to all sessions\./,
);
const reachable = (host: string): unknown =>
  expect.stringMatching(
    new RegExp(
      `^SESSIONS_ACCESS is missing; .+ HOST is ${host}, where others reach it\\. Set it to open .+ leave HOST out `,
    ),
  );
const NO_HOST = 'it must be a host name or an IP address, without port or path.';
const NO_ORIGIN = 'it must be origins such as https://app.example, separated by commas.';

const mistakes: readonly (readonly [env: NodeJS.ProcessEnv, ...problems: unknown[]])[] = [
  ...['abc', '0x50', '1e3'].map((port) => [{ PORT: port }, `PORT is "${port}"; ${WHOLE}`] as const),
  ...['-1', '65536', '80.5'].map((port) => [{ PORT: port }, `PORT is ${port}; ${WHOLE}`] as const),
  [{ HOST: 'localhost:3000' }, `HOST is "localhost:3000"; ${NO_HOST}`],
  [{ HOST: 'http://localhost' }, `HOST is "http://localhost"; ${NO_HOST}`],
  ...['0.0.0.0', '::', '10.0.0.5', '128.0.0.1', '127.0.0.1.example', 'example', 'sessions.example'].map(
    (host) => [{ HOST: host }, reachable(host)] as const,
  ),
  ...['test', 'development'].map((NODE_ENV) => [{ HOST: '0.0.0.0', NODE_ENV }, reachable('0.0.0.0')] as const),
  [{ HOST: '[::]' }, reachable('::')],
  [
    { ALLOWED_HOSTS: 'a.example, b.example:80' },
    'ALLOWED_HOSTS is ["a.example","b.example:80"]; it must be host names without port, separated by commas, or * for any.',
  ],
  [{ ALLOWED_ORIGINS: 'app.example' }, `ALLOWED_ORIGINS is ["app.example"]; ${NO_ORIGIN}`],
  [{ ALLOWED_ORIGINS: 'https://app.example/' }, `ALLOWED_ORIGINS is ["https://app.example/"]; ${NO_ORIGIN}`],
  [{ ALLOWED_ORIGINS: ',' }, `ALLOWED_ORIGINS is []; ${NO_ORIGIN}`],
  [{ REQUEST_LOG: 'no' }, 'REQUEST_LOG is "no"; it must be true or false.'],
  [{ THROTTLE_LIMIT: '-1' }, 'THROTTLE_LIMIT is -1; it must be a whole number from 0 on.'],
  [{ STREAM_MAX_AGE: '5' }, 'STREAM_MAX_AGE is not known; docs/configuration.md lists what is.'],
  [{ THROTTLE_LIMITS: '5' }, 'THROTTLE_LIMITS is not known; did you mean THROTTLE_LIMIT?'],
  [
    { SHUTDOWN_DELAY_SECONDS: 'soon', SHUTDOWN_LIMIT_SECONDS: '1e3' },
    'SHUTDOWN_DELAY_SECONDS is "soon"; it must be a number of seconds from 0 to 86400.',
    'SHUTDOWN_LIMIT_SECONDS is "1e3"; it must be a number of seconds from 0 to 86400.',
  ],
  [{ AUDIT: 'file' }, 'AUDIT is "file"; it must be one of log, table.'],
  [{ AUDIT: 'table', AUDIT_KEEP_DAYS: '0' }, 'AUDIT_KEEP_DAYS is 0; it must be a whole number from 1 to 36525.'],
  [{ AUDIT: 'table', AUDIT_KEEP_DAY: '5' }, 'AUDIT_KEEP_DAY is not known; did you mean AUDIT_KEEP_DAYS?'],
  ...[{ AUDIT: 'log' }, {}].map(
    (env) =>
      [
        { ...env, AUDIT_KEEP_DAYS: '30' },
        'AUDIT_KEEP_DAYS has no effect without AUDIT=table; remove the one, or set the other.',
      ] as const,
  ),
  [{ SESSIONS_ACCESS: 'opne' }, 'SESSIONS_ACCESS is "opne"; it must be open, or left out.'],
  [
    { SESSIONS_ACESS: 'open' },
    'SESSIONS_ACESS is not known; did you mean SESSIONS_PRESET, SESSIONS_PROVIDER, SESSIONS_CLEANUP, or SESSIONS_ACCESS?',
  ],
  [
    { AUTH_JWT_JWKS_URL: 'https://login.example/keys' },
    'AUTH_JWT_ISSUER is missing; tokens of everybody else are refused by it.',
    'AUTH_JWT_AUDIENCE is missing; tokens for other apps are refused by it.',
  ],
  [
    { AUTH_JWT_ISSUER: 'x', AUTH_JWT_AUDIENCE: 'y' },
    'AUTH_JWT_JWKS_URL or AUTH_JWT_PUBLIC_KEYS is needed, and one of them only.',
  ],
  [{ AUTH_JWT_ISUER: 'x' }, expect.stringMatching(/^AUTH_JWT_ISUER is not known; did you mean AUTH_JWT_ISSUER/)],
  [{ AUTH_API_KEYS: 'agsk_secret' }, expect.stringMatching(/^AUTH_API_KEYS cannot be read \(its value is not shown\)/)],
  [{ AUTH_API_KEYS: '[{"name":"ci","preset":"service"}]' }, 'AUTH_API_KEYS[0].hash is missing.'],
  [
    { AUTH_API_KEYS: KEYS, SESSIONS_ACCESS: 'open' },
    'SESSIONS_ACCESS lets everyone in, so that AUTH_… would have no effect; remove one of the two.',
  ],
  [{ NODE_ENV: 'production', SESSIONS_PROVIDER: 'memory' }, NO_ACCESS],
  [{ NODE_ENV: 'production', SESSIONS_PRESET: '', SESSIONS_PROVIDER: 'memory' }, NO_ACCESS],
  [
    { NODE_ENV: 'production', PORT: 'high', SESSIONS_PROVDER: 'redis' },
    `PORT is "high"; ${WHOLE}`,
    NO_ACCESS,
    'SESSIONS_PROVDER is not known; did you mean SESSIONS_PRESET, SESSIONS_PROVIDER, SESSIONS_CLEANUP, or SESSIONS_ACCESS?',
    'SESSIONS_PROVIDER is missing; it must be one of memory, redis, typeorm, vertex.',
  ],
];

/** The last name of each place. */
function placesIn(rows: object): string[] {
  return Object.entries(rows).flatMap(([place, each]) => ('name' in each ? [place] : placesIn(each)));
}

describe('the configuration of the app', () => {
  it.each([
    [undefined, 3000],
    ['', 3000],
    ['8080', 8080],
    ['0', 0],
  ])('reads PORT %p as %p', (text, port) => {
    expect(configurationFrom({ PORT: text }).app.port).toBe(port);
  });

  it('has defaults for all variables', () => {
    expect(configurationFrom({}).app).toEqual({
      port: 3000,
      host: '127.0.0.1',
      allowedHosts: [],
      allowedOrigins: [],
      isRequestLogged: true,
      requestsPerMinute: 6000,
      trustedProxies: 0,
      hasMetrics: false,
      hasSearch: false,
      hasDemoAgent: true,
      shutdown: { delaySeconds: 0, limitSeconds: 20 },
    });
  });

  it('has only values that the source uses', () => {
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.endsWith('app-rows.ts'))
      .map((path) => readFileSync(resolve('src', path), 'utf8'));
    const used = new Set(sources.flatMap((text) => text.match(/\w+/g) ?? []));
    expect(placesIn(APP_ROWS).filter((place) => !used.has(place))).toEqual([]);
  });

  it.each(['localhost', '127.0.0.1', '127.1.2.3', '::1', '[::1]', '::ffff:127.0.0.1'])(
    'does not require SESSIONS_ACCESS for the host %s',
    (host) => {
      expect(configurationFrom({ HOST: host }).app.host).toBe(host.replaceAll(/[[\]]/g, ''));
    },
  );

  it.each(['development', 'test', 'production'])('allows any host with SESSIONS_ACCESS=open in %s', (NODE_ENV) => {
    const env = { NODE_ENV, HOST: '0.0.0.0', SESSIONS_ACCESS: 'open', SESSIONS_PROVIDER: 'memory' };
    expect(configurationFrom(env).app.host).toBe('0.0.0.0');
  });

  it('reads lists of hosts and origins', () => {
    const env = { ALLOWED_HOSTS: 'a.example, b', ALLOWED_ORIGINS: 'https://a.example,http://b:8080' };
    expect(configurationFrom(env).app).toMatchObject({
      allowedHosts: ['a.example', 'b'],
      allowedOrigins: ['https://a.example', 'http://b:8080'],
    });
  });

  it('reads all kinds of variables', () => {
    const env = { REQUEST_LOG: 'false', THROTTLE_LIMIT: '0', TRUSTED_PROXIES: '2', SHUTDOWN_DELAY_SECONDS: '0.5' };
    expect(configurationFrom(env).app).toMatchObject({
      isRequestLogged: false,
      requestsPerMinute: 0,
      trustedProxies: 2,
      shutdown: { delaySeconds: 0.5 },
    });
  });

  it('reads where the audit is kept, and how long', () => {
    expect(configurationFrom({ AUDIT: 'log' }).app.audit).toEqual({ sink: 'log' });
    const env = { AUDIT: 'table', AUDIT_KEEP_DAYS: '30' };
    expect(configurationFrom(env).app.audit).toEqual({ sink: 'table', keepDays: 30 });
  });

  it('reads the access setting and the store', () => {
    const env = { NODE_ENV: 'production', SESSIONS_ACCESS: 'open', SESSIONS_REDIS_URL: 'redis://h' };
    expect(configurationFrom(env).sessions).toMatchObject({ provider: 'redis', redis: { url: 'redis://h' } });
  });

  it('reads the settings of Vertex AI', () => {
    const name = 'projects/p-1/locations/us-central1/reasoningEngines/77';
    const env = { SESSIONS_PROVIDER: 'vertex', SESSIONS_VERTEX_REASONING_ENGINE: name };
    expect(configurationFrom(env).sessions).toMatchObject({ provider: 'vertex', vertex: { reasoningEngine: name } });
  });

  it.each(mistakes.map(([env, ...problems]) => ({ env, problems })))(
    'reports all problems: $env',
    ({ env, problems }) => {
      const read = (): unknown => configurationFrom(env);
      expect(read).toThrow(ConfigurationError);
      expect(read).toThrow(expect.objectContaining({ problems }));
    },
  );

  it.each([
    [{ NODE_ENV: 'production' }, true],
    [{ NODE_ENV: 'production', SESSIONS_PRESET: ' ' }, true],
    [{ NODE_ENV: 'production', SESSIONS_PRESET: 'test' }, false],
    [{ SESSIONS_PRESET: 'production' }, true],
    [{}, false],
  ])('decides whether the environment is production: %j', (env, expected) => {
    expect(isProduction(env)).toBe(expected);
  });
});
