import type { IncomingMessage } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { AppModule } from '../../src/app.module.js';
import { addressOf } from '../../src/app/request-limit.js';
import { SessionsClient } from '../../src/client/index.js';
import { SessionService } from '../../src/index.js';
import { LiveWatch } from '../graphql/live-watch.js';

const LIMIT = 5;
const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const event = (id: string) => ({ id, author: 'user' });

async function startApp(): Promise<INestApplication> {
  const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
  const started = module.createNestApplication<NestExpressApplication>({ logger: false, forceCloseConnections: true });
  await started.listen(0, '127.0.0.1');
  return started;
}

describe('the limit of requests', () => {
  let app: INestApplication;
  let url: string;

  beforeEach(async () => {
    process.env.SESSIONS_PROVIDER = 'memory';
    process.env.THROTTLE_LIMIT = String(LIMIT);
    app = await startApp();
    url = await app.getUrl();
  });
  afterEach(async () => {
    await app.close();
    delete process.env.SESSIONS_PROVIDER;
    delete process.env.THROTTLE_LIMIT;
  });

  const status = async (path: string): Promise<number> => (await fetch(url + path)).status;
  const ask = (query: string): Promise<Response> =>
    fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
  const spend = async (requests: number): Promise<void> => {
    for (let asked = 0; asked < requests; asked++) expect(await status(`/apps/app-${asked}/state`)).toBe(200);
  };

  it('holds over all routes together, and is told as a problem that says when to come again', async () => {
    await spend(LIMIT);
    const response = await fetch(`${url}/apps/shop/users/ann/sessions`);
    expect(response.status).toBe(429);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await response.json()).toMatchObject({
      status: 429,
      title: 'Too Many Requests',
      code: 'TOO_MANY_REQUESTS',
      detail: expect.stringMatching(
        /^There were 5 requests .+ within 60 seconds already\. Try again in \d+ seconds\.$/,
      ),
    });
  });

  it('never holds for health', async () => {
    await spend(LIMIT);
    expect(await status('/apps/shop/state')).toBe(429);
    for (const path of ['/health', '/health/live', '/health/ready']) expect(await status(path)).toBe(200);
  });

  it('holds over GraphQL, field by field', async () => {
    await spend(LIMIT - 2);
    const fields = '{ a: appState(appName: "shop") b: appState(appName: "shop") }';
    expect(await (await ask(fields)).json()).toEqual({ data: { a: {}, b: {} } });
    const refused = await ask('{ a: appState(appName: "shop") }');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const { errors } = (await refused.json()) as { errors: unknown[] };
    expect(errors).toMatchObject([{ extensions: { code: 'TOO_MANY_REQUESTS', status: 429 } }]);
  });

  it('counts a stream once, however much comes over it', async () => {
    const sessions = app.get(SessionService);
    await sessions.createSession(KEY);
    const client = new SessionsClient({ url, retries: 0 });
    const stream = client.watch({ ...KEY, afterSeq: 0 });
    for (let seq = 1; seq <= 2 * LIMIT; seq++) {
      await sessions.appendEvent({ session: { ...KEY, id: KEY.sessionId }, event: event(`e-${seq}`) });
      expect((await stream.next()).value).toMatchObject({ seq });
    }
    await stream.return?.();
    await spend(LIMIT - 1);
    expect(await status('/apps/shop/state')).toBe(429);
  });

  it('counts a subscription once, and refuses one too many with its code', async () => {
    const sessions = app.get(SessionService);
    await sessions.createSession(KEY);
    const socket = { url: `${url.replace('http', 'ws')}/graphql`, variables: { ...KEY, afterSeq: 0 } };
    const live = new LiveWatch(socket);
    for (let seq = 1; seq <= 2 * LIMIT; seq++) {
      await sessions.appendEvent({ session: { ...KEY, id: KEY.sessionId }, event: event(`e-${seq}`) });
      expect((await live.next()).value).toMatchObject({ seq });
    }
    await live.return();
    await spend(LIMIT - 1);
    const refused = new LiveWatch(socket);
    await expect(refused.next()).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' });
    await refused.return();
  });
});

const request = (forwarded?: string): IncomingMessage =>
  ({
    headers: { 'x-forwarded-for': forwarded },
    socket: { remoteAddress: '10.0.0.9' },
  }) as unknown as IncomingMessage;

describe('the address of whoever asks', () => {
  it.each([
    [undefined, 0, '10.0.0.9'],
    [undefined, 2, '10.0.0.9'],
    ['1.1.1.1', 0, '10.0.0.9'],
    ['1.1.1.1', 1, '1.1.1.1'],
    ['9.9.9.9, 1.1.1.1', 1, '1.1.1.1'],
    ['9.9.9.9, 1.1.1.1, 10.0.0.8', 2, '1.1.1.1'],
    ['9.9.9.9:80, 1.1.1.1:50123', 1, '1.1.1.1'],
    ['[2001:db8::1]:50123', 1, '2001:db8::1'],
    ['[2001:db8::1]', 1, '2001:db8::1'],
    ['2001:db8::1', 1, '2001:db8::1'],
    ['::ffff:1.1.1.1', 1, '::ffff:1.1.1.1'],
    ['::1:50123', 1, '::1:50123'],
  ])('forwarded as %p over %d proxies is %s', (forwarded, proxies, address) => {
    expect(addressOf(request(forwarded), proxies)).toBe(address);
  });
});
