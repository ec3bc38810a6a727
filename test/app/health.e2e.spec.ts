import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { AppModule } from '../../src/app.module.js';
import { SessionService } from '../../src/index.js';

describe('the app', () => {
  let folder: string;
  let app: INestApplication;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agent-sessions-app-'));
    process.env.SESSIONS_PRESET = 'development';
    process.env.SESSIONS_DATABASE_URL = `sqlite:${join(folder, 'data', 'sessions.db')}`;
    app = await startApp();
  });

  afterEach(async () => {
    await app.close();
    delete process.env.SESSIONS_PRESET;
    delete process.env.SESSIONS_DATABASE_URL;
    await rm(folder, { recursive: true });
  });

  const health = async (path: string): Promise<{ status: number; body: unknown }> => {
    const response = await fetch(`${await app.getUrl()}${path}`);
    return { status: response.status, body: await response.json() };
  };

  it.each(['/health', '/health/ready'])('reports on %s that it is healthy while its store responds', async (path) => {
    const sessions = { status: 'up', read: 'up', write: 'up' };
    expect(await health(path)).toMatchObject({ status: 200, body: { status: 'ok', info: { sessions } } });
  });

  it.each(['/health', '/health/ready'])('reports on %s what is wrong when its store does not respond', async (path) => {
    await app.get(SessionService).close();
    const { status, body } = await health(path);
    expect(status).toBe(503);
    const sessions = { status: 'down', code: 'STORE_UNAVAILABLE', message: expect.stringContaining('closed') };
    expect(body).toMatchObject({ status: 'error', error: { sessions } });
  });

  it('is live on /health/live without asking its store', async () => {
    await app.get(SessionService).close();
    expect(await health('/health/live')).toEqual({ status: 200, body: { status: 'ok' } });
  });

  it('keeps sessions in the file after a restart', async () => {
    const first = app.get(SessionService);
    const session = await first.createSession({ appName: 'shop', userId: 'ann', state: { step: 1 } });
    await app.close();

    app = await startApp();
    const again = await app.get(SessionService).getSession({ appName: 'shop', userId: 'ann', sessionId: session.id });
    expect(again?.state.toRecord()).toEqual({ step: 1 });
  });
});

async function startApp(): Promise<INestApplication> {
  const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
  const started = module.createNestApplication({ logger: false });
  await started.listen(0, '127.0.0.1');
  return started;
}
