import { configurationFrom } from '../../src/config/app.config.js';
import { ConfigurationError } from '../../src/config/index.js';
import { isProduction } from '../../src/config/presets.js';

const WHOLE = 'it must be a whole number from 0 to 65535.';
const NO_ACCESS = expect.stringMatching(/^SESSIONS_ACCESS is missing; this app lets everybody touch every session\./);

const mistakes: readonly (readonly [env: NodeJS.ProcessEnv, ...problems: unknown[]])[] = [
  ...['abc', '0x50', '1e3'].map((port) => [{ PORT: port }, `PORT is "${port}"; ${WHOLE}`] as const),
  ...['-1', '65536', '80.5'].map((port) => [{ PORT: port }, `PORT is ${port}; ${WHOLE}`] as const),
  [{ REQUEST_LOG: 'no' }, 'REQUEST_LOG is "no"; it must be true or false.'],
  [{ THROTTLE_LIMIT: '-1' }, 'THROTTLE_LIMIT is -1; it must be a whole number from 0 on.'],
  [{ THROTTLE_TTL_SECONDS: '0' }, 'THROTTLE_TTL_SECONDS is 0; it must be a whole number from 1 to 86400.'],
  [{ THROTTLE_LIMITS: '5' }, 'THROTTLE_LIMITS is not known; did you mean THROTTLE_LIMIT?'],
  [{ HEALTH_TIME_LIMIT_MS: '60001' }, 'HEALTH_TIME_LIMIT_MS is 60001; it must be a whole number from 1 to 60000.'],
  [
    { SHUTDOWN_DELAY_SECONDS: 'soon', SHUTDOWN_LIMIT_SECONDS: '1e3' },
    'SHUTDOWN_DELAY_SECONDS is "soon"; it must be a number of seconds from 0 to 86400.',
    'SHUTDOWN_LIMIT_SECONDS is "1e3"; it must be a number of seconds from 0 to 86400.',
  ],
  [{ SESSIONS_ACCESS: 'opne' }, 'SESSIONS_ACCESS is "opne"; it must be open, or left out.'],
  [{ SESSIONS_ACESS: 'open' }, 'SESSIONS_ACESS is not known; did you mean SESSIONS_ACCESS?'],
  [{ NODE_ENV: 'production', SESSIONS_PROVIDER: 'memory' }, NO_ACCESS],
  [{ NODE_ENV: 'production', SESSIONS_PRESET: '', SESSIONS_PROVIDER: 'memory' }, NO_ACCESS],
  [
    { NODE_ENV: 'production', PORT: 'high', SESSIONS_PROVDER: 'redis' },
    `PORT is "high"; ${WHOLE}`,
    NO_ACCESS,
    'SESSIONS_PROVDER is not known; did you mean SESSIONS_PROVIDER?',
    'SESSIONS_PROVIDER is missing; it must be one of memory, redis, typeorm.',
  ],
];

describe('the configuration of the app', () => {
  it.each([
    [undefined, 3000],
    ['', 3000],
    ['8080', 8080],
    ['0', 0],
  ])('reads PORT %p as %p', (text, port) => {
    expect(configurationFrom({ PORT: text }).app.port).toBe(port);
  });

  it('runs with nothing said', () => {
    expect(configurationFrom({}).app).toEqual({
      port: 3000,
      isRequestLogged: true,
      throttle: { limit: 6000, ttlSeconds: 60 },
      trustedProxies: 0,
      healthTimeLimitMs: 2000,
      shutdown: { delaySeconds: 0, limitSeconds: 20 },
    });
  });

  it('takes what is said', () => {
    const env = { REQUEST_LOG: 'false', THROTTLE_LIMIT: '0', TRUSTED_PROXIES: '2', SHUTDOWN_DELAY_SECONDS: '0.5' };
    expect(configurationFrom(env).app).toMatchObject({
      isRequestLogged: false,
      throttle: { limit: 0 },
      trustedProxies: 2,
      shutdown: { delaySeconds: 0.5 },
    });
  });

  it('knows who may touch what, and where the sessions are', () => {
    const env = { NODE_ENV: 'production', SESSIONS_ACCESS: 'open', SESSIONS_REDIS_URL: 'redis://h' };
    expect(configurationFrom(env).sessions).toMatchObject({ provider: 'redis', redis: { url: 'redis://h' } });
  });

  it.each(mistakes.map(([env, ...problems]) => ({ env, problems })))(
    'says all that is wrong: $env',
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
  ])('knows whether it is production: %j', (env, expected) => {
    expect(isProduction(env)).toBe(expected);
  });
});
