import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { INestApplication } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { AppModule } from '../../src/app.module.js';
import { prepareApp } from '../../src/app/prepare-app.js';
import { findClientAddress } from '../../src/sessions/transport/client-address.js';
import { SessionsClient } from '../../src/client/index.js';
import { SessionService } from '../../src/index.js';
import { LiveWatch } from '../graphql/live-watch.js';

const LIMIT = 5;
const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const UPGRADE = {
  connection: 'upgrade',
  upgrade: 'websocket',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-version': '13',
  'sec-websocket-protocol': 'graphql-transport-ws',
};
const event = (id: string) => ({ id, author: 'user' });

async function startApp(): Promise<INestApplication> {
  const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
  const started = module.createNestApplication<NestExpressApplication>({ logger: false, forceCloseConnections: true });
  prepareApp(started);
  await started.listen(0, '127.0.0.1');
  return started;
}

describe('the request limit', () => {
  let app: INestApplication;
  let url: string;

  beforeEach(async () => {
    process.env.SESSIONS_PROVIDER = 'memory';
    process.env.THROTTLE_LIMIT = String(LIMIT);
    process.env.REQUEST_LOG = 'false';
    app = await startApp();
    url = await app.getUrl();
  });
  afterEach(async () => {
    await app.close();
    delete process.env.SESSIONS_PROVIDER;
    delete process.env.THROTTLE_LIMIT;
    delete process.env.REQUEST_LOG;
  });

  const status = async (path: string): Promise<number> => (await fetch(url + path)).status;
  const query = (document: string): Promise<Response> =>
    fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: document }),
    });
  const spend = async (requests: number): Promise<void> => {
    for (let count = 0; count < requests; count++) expect(await status(`/apps/app-${count}/state`)).toBe(200);
  };

  it('counts all routes together, and is reported as a problem with Retry-After', async () => {
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

  it('does not apply to health checks', async () => {
    await spend(LIMIT);
    expect(await status('/apps/shop/state')).toBe(429);
    for (const path of ['/health', '/health/live', '/health/ready']) expect(await status(path)).toBe(200);
  });

  const post = (path: string, body: string, type = 'application/json'): Promise<Response> =>
    fetch(url + path, { method: 'POST', headers: { 'content-type': type }, body });
  it.each([
    { what: 'an unknown path', send: () => fetch(`${url}/nowhere`), status: 404 },
    { what: 'a body that is not JSON', send: () => post('/apps/a/users/u/sessions', '{"state":'), status: 400 },
    { what: 'a body of another type', send: () => post('/apps/a/users/u/sessions', 'x', 'text/plain'), status: 415 },
    { what: 'introspection', send: () => query('{ __schema { types { name } } }'), status: 200 },
    { what: 'an invalid GraphQL document', send: () => query('{'), status: 400 },
    { what: 'the docs page', send: () => fetch(`${url}/docs`), status: 200 },
    { what: 'the OpenAPI document', send: () => fetch(`${url}/openapi.json`), status: 200 },
    { what: 'the explorer', send: () => fetch(`${url}/explorer`), status: 200 },
  ])('counts $what', async ({ send, status: expected }) => {
    for (let count = 0; count < LIMIT; count++) {
      const response = await send();
      expect(response.status).toBe(expected);
      await response.arrayBuffer();
    }
    expect((await send()).status).toBe(429);
    expect(await status('/apps/shop/state')).toBe(429);
  });

  it('does not count requests of pages from other sites', async () => {
    const headers = { origin: 'https://evil.example' };
    for (let count = 0; count <= LIMIT; count++) {
      expect((await fetch(`${url}/apps/shop/state`, { headers })).status).toBe(403);
    }
    expect(await status('/apps/shop/state')).toBe(200);
  });

  it('counts each GraphQL field', async () => {
    await spend(LIMIT - 2);
    const fields = '{ a: appState(appName: "shop") b: appState(appName: "shop") }';
    expect(await (await query(fields)).json()).toEqual({ data: { a: {}, b: {} } });
    const refused = await query('{ a: appState(appName: "shop") }');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ code: 'TOO_MANY_REQUESTS', status: 429 });
  });

  it('can be reached within a GraphQL document', async () => {
    await spend(LIMIT - 1);
    const answer = await query('{ a: appState(appName: "shop") b: appState(appName: "shop") }');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    const { errors } = (await answer.json()) as { errors: unknown[] };
    expect(errors).toMatchObject([{ path: ['b'], extensions: { code: 'TOO_MANY_REQUESTS', status: 429 } }]);
  });

  it('counts a stream once, regardless of its events', async () => {
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

  it('counts a subscription once, and refuses the upgrade over the limit', async () => {
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
    const upgrade = request(url + '/graphql', { headers: UPGRADE }).end();
    const [response] = (await once(upgrade, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(429);
    expect(JSON.parse(await text(response))).toMatchObject({ code: 'TOO_MANY_REQUESTS' });
  });

  it('counts every operation of a WebSocket connection', async () => {
    await app.get(SessionService).createSession(KEY);
    const socket = { url: `${url.replace('http', 'ws')}/graphql`, variables: { ...KEY, afterSeq: 0 } };
    const client = createClient({ url: socket.url, webSocketImpl: WebSocket, lazy: false, retryAttempts: 0 });
    const queryOver = async (): Promise<unknown> => {
      const answers = client.iterate({ query: '{ appState(appName: "shop") }' });
      return (await answers.next()).value;
    };
    for (let count = 0; count < LIMIT; count++) expect(await queryOver()).toEqual({ data: { appState: {} } });
    expect(await queryOver()).toMatchObject({ errors: [{ extensions: { code: 'TOO_MANY_REQUESTS' } }] });
    await client.dispose();
  });
});

const forwardedBy = (forwarded?: string): IncomingMessage =>
  ({
    headers: { 'x-forwarded-for': forwarded },
    socket: { remoteAddress: '10.0.0.9' },
  }) as unknown as IncomingMessage;

describe('findClientAddress', () => {
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
  ])('reads the client address from %p behind %d proxies: %s', (forwarded, proxies, address) => {
    expect(findClientAddress(forwardedBy(forwarded), proxies)).toBe(address);
  });
});
