import { existsSync, readFileSync } from 'node:fs';
import { configurationFrom } from '../../src/config/app.config.js';
import { PROFILES, appOf, compose, servicesOf } from './compose-file.js';
import { Dockerfile } from './dockerfile.js';

/** What ends the app after its delay and its limit. */
const LAST_SECONDS = 2;

describe('compose.yaml', () => {
  it('has these profiles, and each service is in one', () => {
    const named = Object.values(compose.services).flatMap(({ profiles }) => profiles);
    expect(new Set(named)).toEqual(new Set(PROFILES));
  });

  it.each(PROFILES)('gives the app settings that it knows, with a store of the profile %s', (profile) => {
    const { env } = appOf(profile);
    const { sessions, app } = configurationFrom(env);
    const url = new URL(sessions.provider === 'redis' ? (sessions.redis?.url ?? '') : databaseUrl(sessions));
    expect(Object.keys(servicesOf(profile))).toContain(url.hostname);
    const store = compose.services[url.hostname];
    expect(store?.image).toMatch(new RegExp(`^${profile}:`));
    expect(store?.volumes).toHaveLength(1);
    const login = Object.entries(store?.environment ?? {}).filter(([name]) =>
      /_(USER|PASSWORD|DB|DATABASE)$/.test(name),
    );
    const named = [url.username, url.password, url.pathname.slice(1)].filter((part) => part !== '');
    expect(login.map(([, value]) => value).filter((value) => value !== 'yes')).toEqual(named);
    // The proxy in front of it is the only one.
    expect(app.trustedProxies).toBe(1);
  });

  it.each(PROFILES)('has all that the services of %s wait for, and knows when these are healthy', (profile) => {
    const services = servicesOf(profile);
    const image = new Dockerfile('Dockerfile');
    const waited = Object.values(services).flatMap(({ depends_on: others = {} }) => Object.entries(others));
    const needed = waited.filter(([name, { required }]) => required !== false || name in services);
    expect(needed).toHaveLength(2);
    for (const [name, { condition }] of needed) {
      const { build, healthcheck } = services[name] ?? {};
      expect([name, condition]).toEqual([name, 'service_healthy']);
      expect(healthcheck ?? (build && image.healthCheck)).toBeDefined();
    }
  });

  it.each(PROFILES)('runs two instances of %s where the proxy looks for them', (profile) => {
    const { app, env } = appOf(profile);
    expect(app.deploy?.replicas).toBe(2);
    const [, host, port] = /server (\w+):(\d+)/.exec(readFileSync('docker/nginx.conf', 'utf8')) ?? [];
    expect(app.networks?.default.aliases).toEqual([host]);
    expect(String(configurationFrom(env).app.port)).toBe(port);
  });

  it('gives the app the time that it may take to end', () => {
    const { app, env } = appOf('postgres');
    const { delaySeconds, limitSeconds } = configurationFrom(env).app.shutdown;
    expect(Number.parseInt(app.stop_grace_period ?? '', 10)).toBeGreaterThan(
      delaySeconds + limitSeconds + LAST_SECONDS,
    );
  });

  it('is open to this machine only, as everyone may do everything', () => {
    const opened = Object.values(compose.services).flatMap(({ ports = [] }) => ports);
    expect(opened).toEqual(['127.0.0.1:3000:80']);
  });

  it('mounts what is there', () => {
    const sources = Object.values(compose.services).flatMap(({ volumes = [] }) =>
      volumes.map((text) => text.split(':')[0]),
    );
    for (const source of sources) {
      expect([source, source?.startsWith('.') ? existsSync(source) : source && source in compose.volumes]).toEqual([
        source,
        true,
      ]);
    }
  });
});

function databaseUrl(sessions: ReturnType<typeof configurationFrom>['sessions']): string {
  return sessions.provider === 'typeorm' ? (sessions.database?.url ?? '') : '';
}
