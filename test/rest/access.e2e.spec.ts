import { HEADERS, OwnSessions, OTHER_CALLERS, ALL_CALLERS, type Who } from '../support/callers.js';
import type { AccessRequest } from '../../src/sessions/rest/index.js';
import { ACCESS_CASES, goodRequest } from '../transports/access-cases.js';
import { OPERATIONS, TURN_TOKEN } from '../transports/operations.js';
import { restRequest } from '../transports/rest-requests.js';
import { ROWS, type RowName, routeOf } from '../transports/rows.js';
import { type Answer, RestApp } from './rest-app.js';

const SESSION = '/apps/shop/users/ann/sessions/s';

const P = '/apps/:appName/users/:userId/sessions';
const routes = ACCESS_CASES.flatMap(({ name, ...each }) => {
  const route = routeOf(ROWS[name]);
  return route === undefined ? [] : [{ ...each, name, route }];
});

describe('access to the routes of sessions', () => {
  let app: RestApp;

  beforeAll(async () => {
    const options = { summarizer: { keepRecentEvents: 0 }, search: true, agents: true };
    app = await RestApp.start('Express', { access: OwnSessions, ...options });
  });

  afterAll(() => app.close());

  beforeEach(async () => {
    const key = { appName: 'shop', userId: 'ann', sessionId: 's' };
    await app.sessions.createSession({ ...key, state: { secret: 1 } });
    const random = jest.spyOn(crypto, 'randomUUID').mockReturnValueOnce(TURN_TOKEN);
    await app.sessions.beginTurn({ ...key, holder: 'w', requestId: 'r' });
    random.mockRestore();
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await app.sessions.eraseUser({ appName: 'shop', userId: 'ann' });
    const stateRemovals = Object.keys(await app.sessions.getAppState({ appName: 'shop' }));
    if (stateRemovals.length > 0) await app.sessions.updateAppState({ appName: 'shop', stateRemovals });
  });

  it('is tested for every route', () => {
    // Those with the ids in the body, and the list of apps, have tests of their own: test/agents/adk-routes, test/rest/apps.
    const mounted = app.routes().filter((route) => route.includes(' /apps/'));
    expect(routes.map(({ route }) => route).toSorted()).toEqual(mounted.toSorted());
  });

  const sessionRoutes = routes.filter(({ target }) => target === 'session');
  it.each(sessionRoutes.flatMap((each) => OTHER_CALLERS.map((who) => ({ ...each, who }))))(
    '$route responds to $who as if the session were missing',
    async ({ name, who }) => {
      const foreign = await good(name, 's', who);
      const missing = await good(name, 'none', 'the admin');
      expect(foreign.status).toBe(missing.status);
      expect(foreign.text.replaceAll('"s\\"', '"none\\"')).toBe(missing.text);
      const untouched = await app.sessions.getSession({ appName: 'shop', userId: 'ann', sessionId: 's' });
      expect(untouched).toMatchObject({ version: 0 });
    },
  );

  it.each(routes)('$route returns 401 to anonymous callers, also for missing sessions', async ({ name }) => {
    for (const id of ['s', 'none']) {
      const answer = await good(name, id, 'anonymous');
      expect(answer.status).toBe(401);
      expect(answer.body).toMatchObject({ code: 'UNAUTHENTICATED' });
    }
    const untouched = await app.sessions.getSession({ appName: 'shop', userId: 'ann', sessionId: 's' });
    expect(untouched).toMatchObject({ version: 0 });
  });

  const otherRoutes = routes.filter(({ target }) => target !== 'session');
  it.each(otherRoutes.flatMap((each) => ALL_CALLERS.map((who) => ({ ...each, who }))))(
    '$route allows or refuses $who by the access rule',
    async ({ name, allowed, who }) => {
      const { status } = await good(name, 'new', who);
      expect(status < 400).toBe(allowed.includes(who));
      if (!allowed.includes(who)) expect(status).toBe(who === 'anonymous' ? 401 : 403);
    },
  );

  it.each(sessionRoutes.filter(({ route }) => !route.endsWith('/stream')))(
    '$route works for the owner',
    async ({ name, route }) => {
      await summarise();
      if (/run|approvals/.test(route)) await askForApproval();
      expect((await good(name, 's', 'the owner')).status).toBeLessThan(400);
    },
  );

  it.each(routes)('$route asks the rule for $asks', async ({ name, route, asks }) => {
    const allows = jest.spyOn(OwnSessions.prototype, 'allows');
    const writes = jest.spyOn(OwnSessions.prototype, 'allowsWrite');
    // A stream would not end, and an approval would wait for the turn of the session.
    await good(name, /stream|approvals\//.test(route) ? 'none' : 's', 'the admin');
    expect(allows.mock.calls.map(([{ action, target }]) => `${action} ${target}`)).toEqual(asks);
    const asked = writes.mock.calls as unknown as readonly [AccessRequest][];
    const controls = asked.flatMap(([{ write }]) => write?.controls ?? []);
    expect([...new Set(controls)]).toEqual(OPERATIONS[name].controls ?? []);
  });

  const shared = { 'app:open': false };
  it.each([
    { route: `POST ${P}`, body: { state: shared } },
    { route: `POST ${P}/:sessionId`, ids: '/apps/shop/users/ann/sessions/new', body: { state: shared } },
    { route: `PATCH ${P}/:sessionId/state`, body: { stateDelta: shared } },
    { route: `PATCH ${P}/:sessionId/state`, body: { stateRemovals: ['app:open'] } },
    { route: `POST ${P}/:sessionId/events`, body: { author: 'agent', actions: { stateDelta: shared } } },
    { route: `POST ${P}/:sessionId/events`, body: { author: 'agent', actions: { stateRemovals: ['app:open'] } } },
    {
      route: `POST ${P}/:sessionId/events`,
      body: {
        author: 'agent',
        actions: { stateDelta: shared, appName: 'own', request: { headers: { 'x-user': 'admin' } } },
      },
    },
  ])('$route with $body does not bypass the access to app: state', async ({ route, ids = SESSION, body }) => {
    await app.sessions.updateAppState({ appName: 'shop', stateDelta: { open: true } });
    expect((await ask(route, ids, 'the owner', body)).status).toBe(403);
    expect(await app.sessions.getAppState({ appName: 'shop' })).toEqual({ open: true });
    expect((await ask(route, ids, 'the admin', body)).status).toBeLessThan(300);
  });

  it('checks access to the user: state that a session writes', async () => {
    const asked = jest.spyOn(OwnSessions.prototype, 'allows');
    try {
      await ask(`PATCH ${P}/:sessionId/state`, SESSION, 'the owner', { stateDelta: { 'user:theme': 'dark' } });
      const targets = asked.mock.calls.map(([{ action, target }]) => `${action} ${target}`);
      expect(targets).toEqual(['write session', 'write userState']);
    } finally {
      asked.mockRestore();
    }
  });

  /** Appends an event, a summary and another event. */
  async function summarise(): Promise<void> {
    const session = { appName: 'shop', userId: 'ann', id: 's' };
    const event = { author: 'user', content: { role: 'user', parts: [{ text: 'Where is my order?' }] } };
    await app.sessions.appendEvent({ session, event });
    await app.summaries.createSessionSummary({ session, force: true });
    await app.sessions.appendEvent({ session, event });
  }

  /** Ends the turn, and lets the agent ask. */
  async function askForApproval(): Promise<void> {
    await app.sessions.endTurn({ appName: 'shop', userId: 'ann', sessionId: 's', token: TURN_TOKEN });
    const body = { newMessage: { parts: [{ text: 'refund' }] }, invocationId: 'i1' };
    expect((await ask(`POST ${P}/:sessionId/run`, SESSION, 'the owner', body)).status).toBe(200);
  }

  /** Sends the request of an operation that succeeds. */
  function good(name: RowName, sessionId: string, who: Who): Promise<Answer> {
    const { method, path, query, body, headers } = restRequest(ROWS[name], goodRequest(name, 'rest', sessionId));
    return app.request(method, path + query, body, { ...headers, ...HEADERS[who] });
  }

  /** Requests a route, with the ids of a path in it. */
  function ask(route: string, ids: string, who: Who, body?: unknown): Promise<Answer> {
    const [method = '', pattern = ''] = route.split(' ');
    const [, , appName = '', , userId = '', , sessionId = ''] = ids.split('/');
    const path = pattern.replace(':appName', appName).replace(':userId', userId).replace(':sessionId', sessionId);
    return app.request(method, path, body, HEADERS[who]);
  }
});
