import { type AddressInfo, createServer } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { SessionService } from '../../src/index.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { sessionsOf, whileShown } from './shown-page.js';
import { cli } from './terminal.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };

describe('agent-sessions inspect', () => {
  let folder: string;
  let url: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agent-sessions-inspect-'));
    const database = join(folder, 'sessions.db');
    url = `sqlite:${database}`;
    const sessions = new SessionService({ storage: new TypeOrmSessionStorage({ database }) });
    const session = await sessions.createSession({ ...KEY, metadata: { title: 'A refund' } });
    const content = { role: 'user' as const, parts: [{ text: 'hello' }] };
    await sessions.appendEvent({ session, event: { author: 'user', content } });
    await sessions.close();
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('shows the sessions of a store, and changes nothing', async () => {
    const { out } = await whileShown(['--url', url], async (page) => {
      expect(new URL(page).hostname).toBe('127.0.0.1');
      expect((await fetch(page)).status).toBe(200);
      expect(await (await fetch(`${page}/config.json`)).json()).toEqual({ api: '../', actions: [], search: false });
      const answer = await fetch(`${sessionsOf(page)}/s`);
      expect(await answer.json()).toMatchObject({ id: 's', metadata: { title: 'A refund' }, version: 1 });
      for (const [method, path] of [
        ['DELETE', '/s'],
        ['POST', '/s/events'],
        ['POST', '/s/rewind'],
        ['POST', '/s/fork'],
      ] as const) {
        const headers = { 'content-type': 'application/json' };
        const refused = await fetch(sessionsOf(page) + path, {
          method,
          headers,
          ...(method === 'POST' && { body: '{}' }),
        });
        // A forbidden session is answered like a missing one: there is nothing to delete.
        expect([204, 403, 404]).toContain(refused.status);
      }
      const { sessions } = (await (await fetch(sessionsOf(page))).json()) as { sessions: unknown[] };
      expect(sessions).toMatchObject([{ id: 's', version: 1 }]);
    });
    expect(out).toContain('read only');
  });

  it('lets the page write if it is told to', async () => {
    await whileShown(['--url', url, '--write'], async (page) => {
      const forking = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
      expect((await fetch(`${sessionsOf(page)}/s/fork`, forking)).status).toBe(201);
    });
  });

  it('shows an export without a store', async () => {
    const file = join(folder, 'export.jsonl');
    expect(await cli(['export', '--url', url, '-o', file])).toMatchObject({ code: 0 });
    await whileShown([file], async (page) => {
      expect(await (await fetch(`${sessionsOf(page)}/s`)).json()).toMatchObject({ events: [{ author: 'user' }] });
    });
  });

  it('names a port that it cannot have', async () => {
    const other = createServer();
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    const { port } = other.address() as AddressInfo;
    jest.spyOn(Logger, 'error').mockImplementation();
    try {
      const taken = await cli(['inspect', '--url', url, '--port', String(port)]);
      expect(taken).toMatchObject({ code: 2, err: expect.stringContaining('error EADDRINUSE: ') });
      const wrong = await cli(['inspect', '--url', url, '--port', '65536']);
      expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('at most 65535') });
    } finally {
      jest.restoreAllMocks();
      other.close();
    }
  });

  it('answers only those who know the address, and no other site', async () => {
    await whileShown(['--url', url], async (page) => {
      const { origin } = new URL(page);
      for (const path of ['/', '/inspector', '/apps', '/apps/shop/sessions']) {
        expect((await fetch(origin + path)).status).toBe(404);
      }
      expect((await fetch(`${sessionsOf(page)}/s`, { headers: { origin: 'https://evil.example' } })).status).toBe(403);
    });
  });
});
