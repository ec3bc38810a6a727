import type { INestApplication } from '@nestjs/common';
import { AgentsModule } from '../../src/agents/index.js';
import { AdkRestModule, type AdkRestOptions } from '../../src/agents/rest/index.js';
import { ConfigurationError } from '../../src/index.js';
import { OpenAccess, protectFromOtherSites } from '../../src/sessions/rest/index.js';
import { RestApp, frameworks } from '../rest/rest-app.js';
import { TestAgent } from '../support/http-app.js';

const SESSIONS = '/adk/apps/shop/users/ann/sessions';
const ADK_UI = 'http://localhost:4200';
const RUN = { appName: 'shop', userId: 'ann', sessionId: 's', newMessage: { parts: [{ text: 'hi' }] } };

/** What browsers send for pages of other sites. */
const foreign: readonly Record<string, string>[] = [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { origin: ADK_UI },
];

describe.each(frameworks)("ADK's routes on %s", (framework) => {
  let app: RestApp;

  async function start(options: AdkRestOptions = {}, prepare?: (app: INestApplication) => void): Promise<void> {
    app = await RestApp.start(framework, {
      access: OpenAccess,
      isAccessGlobal: true,
      imports: [
        AgentsModule.forRoot({ isGlobal: true, drainMs: 0 }),
        AgentsModule.forFeature([TestAgent]),
        AdkRestModule.forRoot({ path: 'adk', sessions: true, ...options }),
      ],
      ...(prepare && { prepare }),
    });
  }

  afterEach(() => app.close());

  /** Without a body and a content type, as ADK's web UI creates sessions. */
  const create = (headers: Record<string, string>) =>
    fetch(app.url + SESSIONS, { method: 'POST', headers: { connection: 'close', ...headers } });
  const count = async () => (await app.sessions.listSessions({ appName: 'shop' })).sessions.length;

  it.each(foreign)('refuse pages that send %p', async (headers) => {
    await start();
    const refused = await create(headers);
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ code: 'FORBIDDEN', error: expect.stringContaining('another origin') });
    await app.sessions.createSession({ appName: 'shop', userId: 'ann', sessionId: 's' });
    for (const [method, path, body] of [
      ['GET', '/adk/list-apps'],
      ['GET', SESSIONS],
      ['DELETE', `${SESSIONS}/s`],
      ['POST', '/adk/run', RUN],
      ['POST', '/adk/run_sse', RUN],
    ] as const) {
      expect((await app.request(method, path, body, headers)).status).toBe(403);
    }
    expect(await app.sessions.getSession({ appName: 'shop', userId: 'ann', sessionId: 's' })).toMatchObject({
      version: 0,
    });
    expect(await count()).toBe(1);
  });

  it('answer pages of their own origin, other clients, and the origins that they are given', async () => {
    await start({ origins: [ADK_UI] });
    const own = { origin: app.url, 'sec-fetch-site': 'same-origin' };
    const allowed: readonly Record<string, string>[] = [
      {},
      own,
      { 'sec-fetch-site': 'none' },
      { origin: ADK_UI, 'sec-fetch-site': 'same-site' },
    ];
    for (const headers of allowed) expect((await create(headers)).status).toBe(200);
    expect((await create({ origin: 'http://localhost:4201' })).status).toBe(403);
    expect(await count()).toBe(4);
  });

  it('need no list of their own where the app has one', async () => {
    await start({}, (nest) => protectFromOtherSites(nest, { origins: [ADK_UI] }));
    expect((await create({ origin: ADK_UI, 'sec-fetch-site': 'same-site' })).status).toBe(200);
    expect((await create({ origin: 'http://localhost:4201' })).status).toBe(403);
  });
});

it.each(['http://localhost:4200/', 'localhost:4200', '*'])(
  'ADK routes do not start with %s as an origin, which would allow nothing',
  (origin) => {
    expect(() => AdkRestModule.forRoot({ origins: [origin] })).toThrow(ConfigurationError);
  },
);
