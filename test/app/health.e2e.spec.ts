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
    const config = { port: 0, databaseFile: join(folder, 'data', 'sessions.db') };
    const module = await Test.createTestingModule({ imports: [AppModule.register(config)] }).compile();
    app = module.createNestApplication({ logger: false });
    await app.listen(0, '127.0.0.1');
  });

  afterEach(async () => {
    await app.close();
    await rm(folder, { recursive: true });
  });

  const health = async (): Promise<{ status: number; body: unknown }> => {
    const response = await fetch(`${await app.getUrl()}/health`);
    return { status: response.status, body: await response.json() };
  };

  it('says that it is well while its store answers', async () => {
    expect(await health()).toEqual({ status: 200, body: { status: 'ok' } });
  });

  it('says what is wrong when its store does not answer', async () => {
    await app.get(SessionService).close();
    const { status, body } = await health();
    expect(status).toBe(503);
    expect(body).toEqual({ status: 'error', store: expect.stringContaining('closed') });
  });

  it('keeps sessions in the file, over a restart', async () => {
    const first = app.get(SessionService);
    const session = await first.createSession({ appName: 'shop', userId: 'ann', state: { step: 1 } });
    await app.close();

    const config = { port: 0, databaseFile: join(folder, 'data', 'sessions.db') };
    const module = await Test.createTestingModule({ imports: [AppModule.register(config)] }).compile();
    app = module.createNestApplication({ logger: false });
    await app.listen(0, '127.0.0.1');
    const again = await app.get(SessionService).getSession({ appName: 'shop', userId: 'ann', sessionId: session.id });
    expect(again?.state.toRecord()).toEqual({ step: 1 });
  });
});
