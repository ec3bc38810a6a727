import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { commonApp } from './common-app.js';
import { RunningApp } from './running-app.js';

interface HttpResponse {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

const SESSIONS = '/apps/shop/users/ann/sessions';
const UPGRADE = {
  connection: 'upgrade',
  upgrade: 'websocket',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-version': '13',
  'sec-websocket-protocol': 'graphql-transport-ws',
};

/** Sends a request with any headers, also those that `fetch` does not allow. */
async function send(url: string, { method = 'GET', ...headers }: OutgoingHttpHeaders & { method?: string } = {}) {
  const json = method === 'POST' ? { 'content-type': 'application/json' } : {};
  const sent = request(url, { method, headers: { connection: 'close', ...json, ...headers } });
  sent.end(method === 'POST' ? '{}' : undefined);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, text: await text(response) } satisfies HttpResponse;
}

/** The status of a WebSocket handshake. */
async function upgrade(url: string, headers: OutgoingHttpHeaders = {}): Promise<number | undefined> {
  const sent = request(url, { headers: { ...UPGRADE, ...headers } }).end();
  return Promise.race([
    once(sent, 'response').then(([response]: IncomingMessage[]) => response?.statusCode),
    once(sent, 'upgrade').then(([response, socket]) => {
      (socket as { destroy(): void }).destroy();
      return (response as IncomingMessage).statusCode;
    }),
  ]);
}

const externalAddresses = Object.values(networkInterfaces()).flatMap((addresses = []) =>
  addresses.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address),
);

describe('the running app and pages of other sites', () => {
  let app: RunningApp;
  let own: string;

  beforeAll(async () => {
    app = await commonApp();
    own = new URL(app.url).host;
  });

  it('listens only on the loopback address without HOST', async () => {
    const { hostname, port } = new URL(app.url);
    expect(hostname).toBe('127.0.0.1');
    expect(app.printed).not.toContain('open to');
    for (const address of externalAddresses) {
      await expect(fetch(`http://${address}:${port}/health`)).rejects.toThrow('fetch failed');
    }
  });

  const paths = [
    { method: 'GET', path: SESSIONS },
    { method: 'POST', path: SESSIONS },
    { method: 'POST', path: '/graphql' },
    { method: 'GET', path: '/docs' },
    { method: 'GET', path: '/health' },
    { method: 'GET', path: '/nowhere' },
  ];

  it.each(paths.flatMap((each) => ['evil.example', `evil.example:3000`].map((host) => ({ ...each, host }))))(
    'refuses $method $path for an unknown host name: $host',
    async ({ method, path, host }) => {
      const response = await send(app.url + path, { method, host });
      expect(response.status).toBe(403);
      expect(response.headers['content-type']).toContain('application/problem+json');
      expect(JSON.parse(response.text)).toMatchObject({
        code: 'FORBIDDEN',
        detail: expect.stringContaining('host name'),
      });
    },
  );

  it.each(paths.flatMap((each) => ['https://evil.example', 'null'].map((origin) => ({ ...each, origin }))))(
    'refuses $method $path for a page of $origin',
    async ({ method, path, origin }) => {
      const response = await send(app.url + path, { method, origin });
      expect(response.status).toBe(403);
      expect(response.headers['access-control-allow-origin']).toBeUndefined();
    },
  );

  it('refuses a preflight of an unknown origin, and accepts that of an allowed one', async () => {
    const preflight = { method: 'OPTIONS', 'access-control-request-method': 'PATCH' };
    expect((await send(app.url + SESSIONS, { ...preflight, origin: 'https://evil.example' })).status).toBe(403);
    const allowed = await send(app.url + SESSIONS, { ...preflight, origin: 'https://app.example' });
    expect(allowed.status).toBe(204);
    expect(allowed.headers['access-control-allow-origin']).toBe('https://app.example');
    expect(allowed.headers['access-control-allow-methods']).toContain('PATCH');
  });

  it.each([
    { what: 'a client that is not a browser', headers: {} },
    { what: 'its own page', headers: { origin: 'own' } },
    { what: 'an allowed origin', headers: { origin: 'https://app.example' } },
    { what: 'an allowed host', headers: { host: 'sessions.example' } },
    { what: 'an allowed host with a port', headers: { host: 'sessions:3000' } },
    { what: 'a page behind a proxy', headers: { host: 'sessions.example', origin: 'https://sessions.example' } },
  ])('accepts $what', async ({ headers }) => {
    const sent = headers.origin === 'own' ? { origin: `http://${own}` } : headers;
    expect((await send(app.url + SESSIONS, { method: 'POST', ...sent })).status).toBe(201);
    expect(await upgrade(`${app.url}/graphql`, sent)).toBe(101);
  });

  it.each([
    { what: 'of another origin', headers: { origin: 'https://evil.example' } },
    { what: 'of the origin null', headers: { origin: 'null' } },
    { what: 'of another port', headers: { origin: 'http://localhost:1' } },
    { what: 'to an unknown host', headers: { host: 'evil.example' } },
    { what: 'of a page with an unknown host name', headers: { host: 'evil.example', origin: 'http://evil.example' } },
  ])('refuses a WebSocket handshake $what, and logs it', async ({ headers }) => {
    expect(await upgrade(`${app.url}/graphql`, headers)).toBe(403);
    await app.prints(/GET \/graphql 403 /);
  });

  it('sends nosniff on every path, and no x-powered-by', async () => {
    for (const path of [SESSIONS, '/docs', '/openapi.json', '/health', '/nowhere', '/graphql', '/explorer']) {
      const { headers } = await send(app.url + path);
      expect({ path, nosniff: headers['x-content-type-options'], by: headers['x-powered-by'] }).toEqual({
        path,
        nosniff: 'nosniff',
        by: undefined,
      });
    }
  });

  it('forbids inline scripts on its pages', async () => {
    const policy = String((await send(`${app.url}/docs`)).headers['content-security-policy']);
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toContain('unsafe-eval');
  });
});

describe('the address on which the app listens', () => {
  let app: RunningApp | undefined;
  afterEach(() => app?.remove());

  // `app-config.spec.ts` checks that other hosts require SESSIONS_ACCESS.
  it('is every address with HOST=0.0.0.0 and SESSIONS_ACCESS=open, and the app prints that', async () => {
    app = await RunningApp.start({ SESSIONS_PROVIDER: 'memory', HOST: '0.0.0.0', SESSIONS_ACCESS: 'open' });
    expect(app.printed).toMatch(/open to +everyone who can reach every address of this machine/);
    const { port } = new URL(app.url);
    for (const address of ['127.0.0.1', ...externalAddresses]) {
      expect((await send(`http://${address}:${port}/health/live`)).status).toBe(200);
    }
  });

  it('must be an address of this machine', async () => {
    const starting = RunningApp.start({ SESSIONS_PROVIDER: 'memory', HOST: '192.0.2.1', SESSIONS_ACCESS: 'open' });
    await expect(starting).rejects.toThrow('Set HOST to an address of this machine.');
  });
});
