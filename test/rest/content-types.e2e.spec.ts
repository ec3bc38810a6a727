import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { GraphqlApp } from '../graphql/graphql-app.js';
import { RestApp, frameworks } from './rest-app.js';

const SESSION = '/apps/shop/users/ann/sessions/s';

/** Content types that browsers send cross-site without a preflight, and none. */
const simple: readonly { readonly type?: string; readonly body?: string }[] = [
  {},
  { body: '{}' },
  { type: 'text/plain', body: '{}' },
  { type: 'text/plain; charset=application/json', body: '{}' },
  { type: 'application/x-www-form-urlencoded', body: 'a=b' },
  { type: 'multipart/form-data; boundary=x', body: '--x--' },
  { type: 'application/jsonp', body: '{}' },
];

async function send(url: string, method: string, { type, body }: (typeof simple)[number]) {
  const sent = request(url, {
    method,
    headers: { connection: 'close', ...(type !== undefined && { 'content-type': type }) },
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, body: await text(response) };
}

describe.each(frameworks)('the content type of writes over REST on %s', (framework) => {
  let app: RestApp;
  beforeAll(async () => {
    app = await RestApp.start(framework, { summarizer: {} });
    await app.sessions.createSession({ appName: 'shop', userId: 'ann', sessionId: 's' });
  });
  afterAll(() => app.close());

  const routes = [
    'POST /apps/shop/users/ann/sessions',
    'POST /apps/shop/users/ann/sessions/new',
    `POST ${SESSION}/events`,
    `POST ${SESSION}/rewind`,
    `POST ${SESSION}/fork`,
    `POST ${SESSION}/summary`,
    `PATCH ${SESSION}/state`,
    'PATCH /apps/shop/users/ann/state',
    'PATCH /apps/shop/state',
  ];
  it.each(routes.flatMap((route) => simple.map((sent) => ({ route, sent }))))(
    'must be JSON: $route with $sent',
    async ({ route, sent }) => {
      const [method = '', path = ''] = route.split(' ');
      const { status, body } = await send(app.url + path, method, sent);
      expect(status).toBe(415);
      const detail = expect.stringContaining('Send Content-Type: application/json');
      expect(JSON.parse(body)).toMatchObject({ code: 'UNSUPPORTED_MEDIA_TYPE', detail });
      const { sessions } = await app.sessions.listSessions({ appName: 'shop' });
      expect(sessions.map(({ id, version }) => ({ id, version }))).toEqual([{ id: 's', version: 0 }]);
    },
  );

  it('needs no body where nothing is to be said', async () => {
    const sent = send(app.url + SESSION, 'DELETE', { type: 'application/json' });
    expect(await sent).toEqual({ status: 204, body: '' });
  });
});

describe('the content type of GraphQL requests', () => {
  let app: GraphqlApp;
  beforeAll(async () => {
    app = await GraphqlApp.start();
  });
  afterAll(() => app.close());

  const query = 'mutation { createSession(appName: "shop", userId: "ann") { id } }';
  const bodies = [JSON.stringify({ query }), `query=${encodeURIComponent(query)}`, query];
  it.each(bodies.flatMap((body) => simple.map(({ type }) => ({ type, body }))))(
    'must be JSON: $type $body',
    async (sent) => {
      const { status } = await send(`${app.url}/graphql`, 'POST', sent);
      expect([400, 415]).toContain(status);
      expect((await app.sessions.listSessions({ appName: 'shop' })).sessions).toEqual([]);
    },
  );

  it('cannot be replaced by a GET: mutations are refused, and queries need a header that other sites cannot send', async () => {
    const ask = (asked: string): string => `${app.url}/graphql?query=${encodeURIComponent(asked)}`;
    expect((await send(ask(query), 'GET', {})).status).toBe(400);
    expect((await send(ask('{ __typename }'), 'GET', {})).status).toBe(400);
    expect((await app.sessions.listSessions({ appName: 'shop' })).sessions).toEqual([]);
  });
});
