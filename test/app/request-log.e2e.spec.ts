import { randomUUID } from 'node:crypto';
import { type INestApplication, Logger } from '@nestjs/common';
import { operationNameIn, logRequests } from '../../src/app/request-log.js';
import { KeptLogger } from '../module/support/kept-logger.js';
import { RestApp, frameworks } from '../rest/rest-app.js';
import { until } from '../support/until.js';

const SESSION = '/apps/shop-app/users/ann@example.com/sessions/s-1';
const ROUTE = '/apps/:appName/users/:userId/sessions/:sessionId';
const ID = '[0-9a-f-]{36}';
const PRIVATE = /shop-app|ann|example|s-1|secret/;

describe.each(frameworks)('the request log on %s', (framework) => {
  let app: RestApp;
  let logger: KeptLogger;
  const lines = (): string[] => logger.matching(/ ms /);

  beforeEach(async () => {
    app = await RestApp.start(framework, { prepare: (nest: INestApplication) => logRequests(nest) });
    logger = new KeptLogger();
    Logger.overrideLogger(logger);
  });
  afterEach(async () => {
    await app.close();
    Logger.overrideLogger(false);
  });

  it('has one line for each request, without ids or content', async () => {
    const headers = { authorization: 'Bearer secret' };
    await app.request('POST', SESSION, { state: { secret: 'secret' } }, headers);
    const event = { author: 'user', content: { role: 'user', parts: [{ text: 'secret' }] } };
    await app.request('POST', `${SESSION}/events`, event, headers);
    await app.request('GET', `${SESSION}?numRecentEvents=1`, undefined, headers);
    await app.request('GET', '/apps/shop-app/users/ann@example.com/sessions/other-s-1');
    await app.request('GET', '/ann/secret');
    await app.request('POST', SESSION, '{"secret":');
    await until(() => lines().length === 6);
    expect(lines()).toEqual([
      expect.stringMatching(new RegExp(`^log: POST ${ROUTE} 201 \\d+ ms ${ID}$`)),
      expect.stringMatching(new RegExp(`^log: POST ${ROUTE}/events 201 \\d+ ms ${ID}$`)),
      expect.stringMatching(new RegExp(`^log: GET ${ROUTE} 200 \\d+ ms ${ID}$`)),
      expect.stringMatching(new RegExp(`^log: GET ${ROUTE} 404 \\d+ ms ${ID}$`)),
      expect.stringMatching(new RegExp(`^log: GET \\(no route\\) 404 \\d+ ms ${ID}$`)),
      expect.stringMatching(/^log: POST .+ 400 \d+ ms /),
    ]);
    expect(lines().filter((line) => PRIVATE.test(line))).toEqual([]);
  });

  it('uses the request id of a gateway if it is a UUID', async () => {
    const id = randomUUID();
    const kept = await app.request('GET', SESSION, undefined, { 'x-request-id': id });
    const replaced = await app.request('GET', SESSION, undefined, { 'x-request-id': 'ann@example.com' });
    await until(() => lines().length === 2);
    expect(kept.headers.get('x-request-id')).toBe(id);
    expect(lines()[0]).toContain(` ms ${id}`);
    expect(replaced.headers.get('x-request-id')).toMatch(new RegExp(`^${ID}$`));
    expect(lines()[1]).toContain(` ms ${replaced.headers.get('x-request-id')}`);
  });

  it('has one line for a stream, when it ends', async () => {
    await app.request('POST', SESSION);
    const left = new AbortController();
    const response = await fetch(`${app.url}${SESSION}/events/stream`, { signal: left.signal });
    expect(response.status).toBe(200);
    await app.request('GET', SESSION);
    await until(() => lines().length === 2);
    expect(logger.matching(/stream/)).toEqual([]);
    left.abort();
    await until(() => lines().length === 3);
    await app.request('GET', SESSION);
    await until(() => lines().length === 4);
    expect(logger.matching(/stream/)).toEqual([
      expect.stringMatching(new RegExp(`^log: GET ${ROUTE}/events/stream 200 \\d+ ms ${ID}, closed early$`)),
    ]);
  });

  it('has a warning for a server error', async () => {
    await app.request('POST', SESSION);
    await app.sessions.close();
    jest.spyOn(app.sessions, 'getSession').mockRejectedValue(new Error('secret'));
    expect((await app.request('GET', SESSION)).status).toBe(500);
    await until(() => lines().length === 2);
    expect(lines()[1]).toMatch(new RegExp(`^warn: GET ${ROUTE} 500 `));
  });
});

describe('operationNameIn', () => {
  it.each([
    [{ operationName: 'Mine', query: 'query Mine { a }' }, 'Mine'],
    [{ query: 'mutation Append($event: JSON!) { a(text: "secret") }' }, 'Append'],
    [{ query: '{ session(userId: "ann") { id } }' }, undefined],
    [{ query: 'query { session(userId: "ann") { id } }' }, undefined],
    [{ operationName: 'ann@example.com', query: 'query Mine { a }' }, undefined],
    [{ operationName: 'a'.repeat(65) }, undefined],
    [{ query: 7 }, undefined],
    [undefined, undefined],
    [null, undefined],
  ])('finds in %j the name %p', (body, name) => {
    expect(operationNameIn(body)).toBe(name);
  });
});
