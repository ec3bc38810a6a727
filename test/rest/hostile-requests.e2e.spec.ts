import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { RestApp, frameworks } from './rest-app.js';

const SESSION = '/apps/shop/users/ann/sessions/s';
const JSON_TYPE = { 'content-type': 'application/json' };

interface HostileRequest {
  readonly title: string;
  readonly method?: string;
  readonly path?: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
  readonly status: number;
}

const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const eventWith = (value: string): string => `{"author":"agent","actions":{"stateDelta":{"x":${value}}}}`;

const requests: readonly HostileRequest[] = [
  { title: 'no JSON', body: '{bad', status: 400 },
  { title: 'a list', body: '[]', status: 400 },
  { title: 'a text', body: '"text"', status: 400 },
  { title: 'null', body: 'null', status: 400 },
  { title: 'another content type', body: 'a=b', headers: { 'content-type': 'text/csv' }, status: 415 },
  { title: 'an event of 3 MB', body: eventWith(`"${'x'.repeat(3_000_000)}"`), status: 413 },
  { title: 'a body of 6 MB', body: eventWith(`"${'x'.repeat(6_000_000)}"`), status: 413 },
  { title: 'a value 100,000 deep', body: eventWith(deep(100_000)), status: 413 },
  { title: 'an author that is a number', body: '{"author":7}', status: 400 },
  { title: 'a lone surrogate', body: eventWith(String.raw`"\ud800"`), status: 400 },
  { title: 'removals that are no list', body: '{"author":"a","actions":{"stateRemovals":"x"}}', status: 400 },
  { title: 'an empty state key', body: '{"author":"a","actions":{"stateDelta":{"user:":1}}}', status: 400 },
  { title: 'a condition that is no tag', body: '{"author":"a"}', headers: { 'if-match': '"x"' }, status: 400 },
  {
    title: 'an idempotency key of 300 characters',
    body: '{"author":"a"}',
    headers: { 'idempotency-key': 'x'.repeat(300) },
    status: 400,
  },
  { title: 'an app that is "."', method: 'GET', path: '/apps/%252E/state', status: 200 },
  { title: 'a user with a line break', method: 'GET', path: '/apps/shop/users/a%0Ab/state', status: 400 },
  { title: 'a user of white space', method: 'GET', path: '/apps/shop/users/%20/state', status: 400 },
  { title: 'a session of white space', path: '/apps/shop/users/ann/sessions/%20', body: '{}', status: 400 },
  { title: 'an id of 192 bytes', method: 'GET', path: `/apps/shop/users/${'x'.repeat(192)}/state`, status: 400 },
  { title: 'a broken escape', method: 'GET', path: '/apps/shop/users/%E0%A4%A/state', status: 400 },
  { title: 'a limit beyond all', method: 'GET', path: '/apps/shop/users/ann/sessions?limit=1000000000', status: 400 },
  { title: 'two limits', method: 'GET', path: '/apps/shop/users/ann/sessions?limit=1&limit=2', status: 400 },
  { title: 'an unknown name in the query', method: 'GET', path: '/apps/shop/users/ann/sessions?limt=1', status: 400 },
  { title: 'a cursor that is none', method: 'GET', path: '/apps/shop/users/ann/sessions?cursor=x', status: 400 },
  { title: 'an unknown order', method: 'GET', path: '/apps/shop/users/ann/sessions?order=up', status: 400 },
  { title: 'an unknown name in a body', path: '/apps/shop/users/ann/sessions', body: '{"sate":{}}', status: 400 },
  { title: '__proto__ in an envelope', path: '/apps/shop/users/ann/sessions', body: '{"__proto__":{}}', status: 400 },
  { title: 'an id that is a number', path: '/apps/shop/users/ann/sessions', body: '{"sessionId":5}', status: 400 },
  { title: 'a rewind to a text', path: `${SESSION}/rewind`, body: '{"toSeq":"1"}', status: 400 },
  { title: 'a rewind to nowhere', path: `${SESSION}/rewind`, body: '{}', status: 400 },
  { title: 'a fork at -1', path: `${SESSION}/fork`, body: '{"atSeq":-1}', status: 400 },
  {
    title: 'a stream after what is not there',
    method: 'GET',
    path: `${SESSION}/events/stream?afterSeq=9`,
    status: 400,
  },
  {
    title: 'a stream after a text',
    method: 'GET',
    path: `${SESSION}/events/stream`,
    headers: { 'last-event-id': 'x' },
    status: 400,
  },
  {
    title: 'a stream of no session',
    method: 'GET',
    path: '/apps/shop/users/ann/sessions/none/events/stream',
    status: 404,
  },
  { title: 'a path that is none', method: 'GET', path: '/nowhere', status: 404 },
];

describe.each(frameworks)('hostile requests on %s', (framework) => {
  let app: RestApp;

  beforeAll(async () => {
    app = await RestApp.start(framework);
    await app.request('POST', SESSION);
  });

  afterAll(async () => {
    await app.close();
  });

  it.each(requests)(
    '$title gets $status',
    async ({ method = 'POST', path = `${SESSION}/events`, body, headers, status }) => {
      const answer = await app.request(method, path, body, body === undefined ? headers : { ...JSON_TYPE, ...headers });
      expect(answer.status).toBe(status);
      if (status >= 400) {
        expect(answer.headers.get('content-type')).toContain('application/problem+json');
        expect(answer.body).toMatchObject({ status, code: expect.any(String), detail: expect.any(String) });
        expect(answer.text).not.toContain('    at ');
      }
    },
  );

  it.each([
    { title: 'no HTTP', raw: 'what is this\r\n\r\n', status: 400 },
    { title: 'no name of the host', raw: 'GET / HTTP/1.1\r\nHost\r\n\r\n', status: 400 },
    { title: 'headers of 20 kB', raw: `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, status: 431 },
    {
      title: 'two lengths',
      raw: 'POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      status: 400,
    },
  ])('$title is answered with $status, though it never becomes a request', async ({ raw, status }) => {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    socket.write(raw);
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} .+`));
    expect(head).toContain('application/problem+json');
    expect(JSON.parse(body)).toMatchObject({ status, code: expect.any(String), detail: expect.any(String) });
  });

  it('store nothing and do not disturb the app', async () => {
    expect(await app.request('GET', SESSION)).toMatchObject({ status: 200, body: { version: 0, state: {} } });
    const { sessions } = await app.sessions.listSessions({ appName: 'shop' });
    expect(sessions.map(({ id }) => id)).toEqual(['s']);
  });
});
