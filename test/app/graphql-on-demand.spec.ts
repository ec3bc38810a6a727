import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { type INestApplication, type LoggerService, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { sharedServices } from '../../src/app/graphql-app.js';
import { GraphqlOnDemand } from '../../src/app/graphql-on-demand.js';
import { LiveWatch } from '../graphql/live-watch.js';
import { RunningApp } from './running-app.js';

const UPGRADE = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-key': 'x'.repeat(24) };

async function refusedUpgrade(url: string): Promise<{ readonly status: number | undefined; readonly body: string }> {
  const [response] = (await once(request(url, { headers: UPGRADE }).end(), 'response')) as [IncomingMessage];
  return { status: response.statusCode, body: await text(response) };
}

describe('GraphQL of the app of npm start', () => {
  let app: RunningApp;

  beforeAll(async () => {
    app = await RunningApp.start({ SESSIONS_PROVIDER: 'memory' });
  });
  afterAll(() => app.remove());

  it('is loaded once, by first requests that come together', async () => {
    const key = { appName: 'shop', userId: 'ann', sessionId: 's' };
    const headers = { 'content-type': 'application/json' };
    await fetch(`${app.url}/apps/shop/users/ann/sessions/s`, { method: 'POST', headers });
    await fetch(`${app.url}/apps/shop/users/ann/sessions/s/events`, {
      method: 'POST',
      headers,
      body: '{"author":"user"}',
    });
    expect(app.printed).not.toContain('[GraphQL]');
    const url = `${app.url}/graphql`;
    const query = '{ session(appName: "shop", userId: "ann", sessionId: "s") { id } }';
    const send = (): Promise<Response> => fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
    const live = new LiveWatch({ url: url.replace('http', 'ws'), variables: { ...key, afterSeq: 0 } });
    const answers = await Promise.all([send(), send(), send()]);
    for (const answer of answers) expect(await answer.json()).toEqual({ data: { session: { id: 's' } } });
    expect((await live.next()).value).toMatchObject({ seq: 1, author: 'user' });
    await live.return();
    expect(app.printed.match(/\[GraphQL\] Loaded for its first request, in \d+ ms/g)).toHaveLength(1);
    expect(app.printed).not.toMatch(/NestFactory|InstanceLoader|NestApplication/);
  });

  it('leaves no upgrade to another path without an answer', async () => {
    const refused = await refusedUpgrade(`${app.url}/nowhere`);
    expect(refused).toEqual({ status: 400, body: expect.stringContaining('There is no such protocol on this path') });
  });
});

describe('the services that GraphQL shares with the app', () => {
  it.each(sharedServices({ hasSearch: true }).map((service) => [service.name, service.prototype as object] as const))(
    'have no hooks, which Nest would call twice: %s',
    (_name, prototype) => {
      for (const hook of ['onModuleInit', 'onApplicationBootstrap', 'onModuleDestroy'])
        expect(hook in prototype).toBe(false);
      for (const hook of ['beforeApplicationShutdown', 'onApplicationShutdown']) expect(hook in prototype).toBe(false);
    },
  );
});

describe('GraphQL that cannot be loaded', () => {
  let app: INestApplication;
  const error = jest.fn();

  beforeAll(async () => {
    // Nothing here provides what GraphQL serves.
    @Module({ providers: [GraphqlOnDemand] })
    class EmptyModule {}
    const module = await Test.createTestingModule({ imports: [EmptyModule] }).compile();
    app = module.createNestApplication({ logger: { error, warn: jest.fn(), log: jest.fn() } satisfies LoggerService });
    await app.listen(0, '127.0.0.1');
  });
  beforeEach(() => error.mockClear());
  afterAll(() => app.close());

  it('is an error of each request, and a line of the log', async () => {
    for (let time = 1; time <= 2; time++) {
      expect((await fetch(`${await app.getUrl()}/graphql`, { method: 'POST' })).status).toBe(500);
      expect(error).toHaveBeenCalledWith('GraphQL could not be loaded.', expect.stringContaining('Nest'), 'GraphQL');
      error.mockClear();
    }
  });

  it('refuses WebSockets', async () => {
    const refused = await refusedUpgrade(`${await app.getUrl()}/graphql`);
    expect(refused).toEqual({ status: 500, body: expect.stringContaining('"code":"INTERNAL"') });
    expect(error).toHaveBeenCalledWith('GraphQL could not be loaded.', expect.anything(), 'GraphQL');
  });
});
