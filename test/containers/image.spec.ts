import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { configurationFrom } from '../../src/config/app.config.js';
import { freePort } from '../servers/free-port.js';
import { until } from '../support/until.js';
import { BuiltImage, USER } from './built-image.js';
import { Dockerfile } from './dockerfile.js';

const dockerfile = new Dockerfile('Dockerfile');
const [command = '', ...args] = dockerfile.command;
const EVENTS = '/apps/shop/users/ann/sessions/s/events';

/** There is no container here: the stages of the Dockerfile are run in folders, and the app by the command of the image. */
describe('the image', () => {
  let image: BuiltImage;
  let app: ChildProcess | undefined;
  let printed = '';

  beforeAll(async () => {
    image = await BuiltImage.from(dockerfile);
  });

  afterAll(() => image?.remove());

  afterEach(async () => {
    if (app?.exitCode === null && app.kill('SIGKILL')) await once(app, 'exit');
    app = undefined;
  });

  const isInstalled = (name: string): boolean => existsSync(join(image.folder, 'node_modules', name));

  /** Only what the image says is in the environment. */
  async function start(settings: Record<string, string>): Promise<string> {
    const port = String(await freePort());
    const env = { PATH: process.env.PATH ?? '', ...dockerfile.env, NO_COLOR: '1', PORT: port, ...settings };
    printed = '';
    app = spawn(command, args, { cwd: image.folder, env, ...USER });
    for (const stream of [app.stdout, app.stderr]) stream?.on('data', (data) => (printed += String(data)));
    return port;
  }

  const isHealthy = (port: string): Promise<boolean> => {
    const [check = '', ...words] = dockerfile.healthCheck;
    const env = { PATH: process.env.PATH ?? '', ...dockerfile.env, PORT: port };
    return promisify(execFile)(check, words, { cwd: image.folder, env, ...USER }).then(
      () => true,
      () => false,
    );
  };

  const ended = async (): Promise<number | null> => {
    if (app?.exitCode === null) await once(app, 'exit');
    return app?.exitCode ?? null;
  };

  it('starts as a user without rights, is healthy, tells readers all until its stop signal, and ends with 0', async () => {
    expect(dockerfile.said('USER')).toBe('node');
    const port = await start({ SESSIONS_ACCESS: 'open', SESSIONS_DATABASE_URL: 'sqlite:./data/sessions.db' });
    await until(
      () => isHealthy(port),
      () => printed,
    );
    const url = `http://127.0.0.1:${port}`;
    const headers = { 'content-type': 'application/json' };
    for (const path of ['/inspector', '/docs', '/health/ready', '/graphql?query={__typename}']) {
      const answer = await fetch(url + path, { headers: { 'apollo-require-preflight': 'yes' } });
      expect([path, answer.status]).toEqual([path, 200]);
    }
    expect((await fetch(url + EVENTS.replace('/events', ''), { method: 'POST', headers })).status).toBe(201);
    const stream = await fetch(`${url}${EVENTS}/stream`);
    const body = JSON.stringify({ author: 'user' });
    const appends = Array.from({ length: 20 }, () => fetch(url + EVENTS, { method: 'POST', headers, body }));
    const [first] = await Promise.all(appends);
    expect(first?.status).toBe(201);
    expect(dockerfile.said('STOPSIGNAL')).toBe('SIGTERM');
    app?.kill('SIGTERM');
    expect((await stream.text()).match(/^id: /gm)).toHaveLength(appends.length);
    expect(await ended()).toBe(0);
    expect(await isHealthy(port)).toBe(false);
  });

  it('says what is missing if nobody says who has access, or where sessions are', async () => {
    await start({});
    expect(await ended()).toBe(1);
    expect(printed).toContain('SESSIONS_ACCESS');
    expect(printed).toContain('SESSIONS_PROVIDER');
  });

  it('has the packages of all stores, and none that only build or test', () => {
    expect(['libsql', 'pg', 'mysql2', 'ioredis', 'jose'].filter((name) => !isInstalled(name))).toEqual([]);
    expect(['jest', 'rollup', 'oxlint', '@nestjs/cli'].filter(isInstalled)).toEqual([]);
  });

  it('has a package for each import of the app', () => {
    expect(importsOf('main.js').filter((name) => !isInstalled(name))).toEqual([]);
  });

  it('listens where its port is exposed', () => {
    const env = { ...dockerfile.env, SESSIONS_ACCESS: 'open', SESSIONS_REDIS_URL: 'redis://redis' };
    expect(configurationFrom(env).app).toMatchObject({ host: '0.0.0.0', port: Number(dockerfile.said('EXPOSE')) });
  });

  /** The packages that files of the app import, also where they are needed later. */
  function importsOf(file: string, seen = new Set<string>()): readonly string[] {
    if (seen.has(file)) return [];
    seen.add(file);
    const code = readFileSync(join(image.folder, 'dist', file), 'utf8');
    const found = [...code.matchAll(/^(?:import|export) (?:[^'"]*? from )?'([^']+)';$|\bimport\('([^']+)'\)/gm)];
    return found.flatMap(([, now, later]) => {
      const name = now ?? later ?? '';
      if (name.startsWith('.')) return importsOf(join(file, '..', name), seen);
      return name.startsWith('node:') ? [] : [/^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name];
    });
  }
});
