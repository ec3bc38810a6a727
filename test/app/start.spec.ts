import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { DatabaseSessionService } from '../../src/typeorm.js';
import { type ApiDocument, Described } from '../rest/openapi/described.js';
import { redisUrl } from '../support/redis-store.js';
import { chosenStoreNames } from '../support/store-names.js';

const main = join(__dirname, '../../dist/main.js');

function errorOutput(process: ChildProcess): Promise<string> {
  return text(process.stderr ?? Readable.from([]));
}

/** Starts the built app as `npm start` does. */
function startIn(folder: string, port: string, settings: Record<string, string> = {}): ChildProcess {
  const { NODE_ENV: _test, ...env } = process.env;
  return spawn(process.execPath, [main], { cwd: folder, env: { ...env, ...settings, PORT: port, NO_COLOR: '1' } });
}

/** What an app prints until it listens. Then its standard output is closed. */
async function greetingOf(app: ChildProcess): Promise<string> {
  let printed = '';
  for await (const chunk of app.stdout ?? []) {
    printed += String(chunk);
    if (/curl .+\n/.test(printed)) break;
  }
  return printed;
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

async function end(app: ChildProcess): Promise<void> {
  if (app.exitCode !== null || app.signalCode !== null) return;
  app.kill('SIGKILL');
  await once(app, 'exit');
}

describe('the app of npm start', () => {
  let folder: string;
  let app: ChildProcess;
  let printed: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agent-sessions-start-'));
    app = startIn(folder, '0');
    printed = await greetingOf(app);
  });

  afterAll(async () => {
    await end(app);
    await rm(folder, { recursive: true });
  });

  it('prints its URL and its store, and responds', async () => {
    expect(printed).toContain(`SQLite, ${join(folder, 'data', 'sessions.db')}`);
    const [url] = /http:\/\/\S+\/health/.exec(printed) ?? [''];
    const response = await fetch(url);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ status: 'ok' });
  });

  it('continues when its standard output is closed', async () => {
    expect(app.stdout?.destroyed).toBe(true);
    const [url] = /http:\/\/\S+\/health/.exec(printed) ?? [''];
    const unknown = new URL('/nowhere', url);
    for (let time = 1; time <= 3; time++) expect((await fetch(unknown)).status).toBe(404);
  });

  it('describes all its routes in the OpenAPI document', async () => {
    const [, docs = ''] = /(http:\/\/\S+\/docs)/.exec(printed) ?? [];
    expect((await fetch(docs)).status).toBe(200);
    const document = (await (await fetch(new URL('/openapi.json', docs))).json()) as ApiDocument;
    const paths = Object.keys(document.paths);
    const session = '/apps/{appName}/users/{userId}/sessions/{sessionId}';
    expect(paths).toEqual(
      expect.arrayContaining(['/health', '/health/live', '/health/ready', session, `${session}/summary`]),
    );
    const described = new Described(document);
    for (const { route, operation } of described.operations) {
      expect(`${route}: ${operation.operationId}`).toMatch(/: \w+$/);
      expect(`${route}: ${operation.summary}`).toMatch(/: \w.+/);
      for (const answer of Object.values(operation.responses)) {
        expect(answer.description).not.toBe('');
      }
    }
    const ids = described.operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('ends if its port is in use, also with an open Redis connection, and says what to do', async () => {
    const [, port = ''] = /:(\d+)\/health/.exec(printed) ?? [];
    const redis = { SESSIONS_PROVIDER: 'redis', SESSIONS_REDIS_URL: redisUrl };
    const second = startIn(folder, port, chosenStoreNames().includes('redis') ? redis : {});
    const [stderr] = await Promise.all([errorOutput(second), once(second, 'exit')]);
    expect(stderr).toContain('Set PORT to a free port.');
    expect(second.exitCode).toBe(1);
  });

  it('starts again on the same file after SIGKILL', async () => {
    const key = { appName: 'shop', userId: 'ann', sessionId: 'kept' };
    const [url] = /http:\/\/\S+\/health/.exec(printed) ?? [''];
    const created = await fetch(new URL('/apps/shop/users/ann/sessions/kept', url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ state: { step: 1 } }),
    });
    expect(created.status).toBe(201);
    await end(app);

    app = startIn(folder, '0');
    expect(await greetingOf(app)).toContain('listening');
    const after = new DatabaseSessionService({ database: join(folder, 'data', 'sessions.db') });
    expect((await after.getSession(key))?.state.toRecord()).toEqual({ step: 1 });
    await after.close();
  });

  // The last one, because it ends the app.
  it('ends on SIGTERM and closes its database file', async () => {
    app.kill('SIGTERM');
    expect(await once(app, 'exit')).toEqual([0, null]);
    expect(sizeOf(join(folder, 'data', 'sessions.db'))).toBeGreaterThan(0);
    expect(sizeOf(join(folder, 'data', 'sessions.db-wal'))).toBe(0);
  });
});

describe('npm start', () => {
  let folder: string;
  let app: ChildProcess;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agent-sessions-start-'));
  });

  afterEach(async () => {
    await end(app);
    await rm(folder, { recursive: true });
  });

  const start = (port: string, settings: Record<string, string> = {}): ChildProcess => startIn(folder, port, settings);

  it('names what is wrong with its configuration', async () => {
    app = start('high', { SESSIONS_REDIS_URI: 'redis://127.0.0.1' });
    const [stderr] = await Promise.all([errorOutput(app), once(app, 'exit')]);
    expect(stderr).toBe(
      'The app could not start. The configuration of sessions is wrong:\n' +
        '  PORT is "high"; it must be a whole number from 0 to 65535.\n' +
        '  SESSIONS_REDIS_URI is not known; did you mean SESSIONS_REDIS_URL, SESSIONS_REDIS_TLS, or SESSIONS_REDIS_PREFIX?\n',
    );
    expect(app.exitCode).toBe(1);
  });

  it('names the file that it cannot open', async () => {
    app = start('0', { SESSIONS_DATABASE_URL: 'sqlite:.' });
    const [stderr] = await Promise.all([errorOutput(app), once(app, 'exit')]);
    expect(stderr).toMatch(/^ {2}SQLite cannot open \/.+: it must be a file that this process may write/m);
    expect(stderr).not.toContain('retry');
    expect(app.exitCode).toBe(1);
  });

  it('ends with one message if its store does not respond', async () => {
    const impatient = { SESSIONS_REDIS_COMMAND_TIMEOUT_MS: '200', SESSIONS_RETRY_ATTEMPTS: '0' };
    app = start('0', { SESSIONS_REDIS_URL: 'redis://127.0.0.1:1', ...impatient });
    const [stderr] = await Promise.all([errorOutput(app), once(app, 'exit')]);
    expect(stderr).toMatch(
      /^The app could not start\. There was no connection to Redis at 127\.0\.0\.1:1 within 200 ms \(ECONNREFUSED\)\.\n$/,
    );
    expect(app.exitCode).toBe(1);
  });
});
