import { HEADERS, OwnSessions, OTHER_CALLERS, ALL_CALLERS, type Who } from '../support/callers.js';
import { type Answer, RestApp } from './rest-app.js';

const SESSION = '/apps/shop/users/ann/sessions/s';
const MISSING = '/apps/shop/users/ann/sessions/none';

/** The token of the session's turn. */
const TURN_TOKEN = '00000000-0000-4000-8000-000000000000';

const HELLO = { role: 'user', parts: [{ text: 'Hello' }] };

interface Route {
  readonly route: string;
  readonly target: 'session' | 'other' | 'app sessions' | 'app state read' | 'app state write';
  readonly body?: unknown;
}

const P = '/apps/:appName/users/:userId/sessions';
const routes: readonly Route[] = [
  { route: `GET ${P}`, target: 'other' },
  { route: 'GET /apps/:appName/sessions', target: 'app sessions' },
  { route: `POST ${P}`, target: 'other' },
  { route: `POST ${P}/:sessionId`, target: 'other' },
  { route: `GET ${P}/:sessionId`, target: 'session' },
  { route: `DELETE ${P}/:sessionId`, target: 'session' },
  { route: `POST ${P}/:sessionId/rewind`, target: 'session', body: { toSeq: 0 } },
  { route: `POST ${P}/:sessionId/fork`, target: 'session' },
  { route: `GET ${P}/:sessionId/events`, target: 'session' },
  { route: `POST ${P}/:sessionId/events`, target: 'session', body: { author: 'agent' } },
  { route: `POST ${P}/:sessionId/events/batch`, target: 'session', body: { events: [{ author: 'agent' }] } },
  { route: `GET ${P}/:sessionId/events/stream`, target: 'session' },
  { route: `GET ${P}/:sessionId/turn`, target: 'session' },
  { route: `POST ${P}/:sessionId/turn`, target: 'session', body: { holder: 'w', requestId: 'r' } },
  { route: `PATCH ${P}/:sessionId/turn`, target: 'session' },
  { route: `DELETE ${P}/:sessionId/turn`, target: 'session' },
  { route: `GET ${P}/:sessionId/summary`, target: 'session' },
  { route: `POST ${P}/:sessionId/summary`, target: 'session', body: { force: true } },
  { route: `GET ${P}/:sessionId/summaries`, target: 'session' },
  { route: `GET ${P}/:sessionId/state`, target: 'session' },
  { route: `GET ${P}/:sessionId/state/at`, target: 'session' },
  { route: `GET ${P}/:sessionId/state/changes`, target: 'session' },
  { route: `GET ${P}/:sessionId/summary/outlook`, target: 'session' },
  { route: `GET ${P}/:sessionId/view/explanation`, target: 'session' },
  { route: `PATCH ${P}/:sessionId/state`, target: 'session', body: { stateDelta: { a: 1 } } },
  { route: `POST ${P}/:sessionId/run`, target: 'session', body: { newMessage: HELLO } },
  { route: `POST ${P}/:sessionId/run_sse`, target: 'session', body: { newMessage: HELLO } },
  { route: `POST ${P}/:sessionId/stop`, target: 'session' },
  { route: `POST ${P}/:sessionId/approvals/:approvalId`, target: 'session', body: { confirmed: true } },
  { route: 'GET /apps/:appName/users/:userId/approvals', target: 'other' },
  { route: `GET ${P}/:sessionId/usage`, target: 'session' },
  { route: 'GET /apps/:appName/users/:userId/usage', target: 'other' },
  { route: 'GET /apps/:appName/usage', target: 'app state write' },
  { route: 'GET /apps/:appName/users/:userId/state', target: 'other' },
  { route: 'PATCH /apps/:appName/users/:userId/state', target: 'other', body: { stateDelta: { a: 1 } } },
  { route: 'GET /apps/:appName/state', target: 'app state read' },
  { route: 'PATCH /apps/:appName/state', target: 'app state write', body: { stateDelta: { a: 1 } } },
];

describe('access to the routes of sessions', () => {
  let app: RestApp;

  beforeEach(async () => {
    app = await RestApp.start('Express', { access: OwnSessions, summarizer: { keepRecentEvents: 0 }, agents: true });
    await app.sessions.createSession({ appName: 'shop', userId: 'ann', sessionId: 's', state: { secret: 1 } });
    const random = jest.spyOn(crypto, 'randomUUID').mockReturnValueOnce(TURN_TOKEN);
    const key = { appName: 'shop', userId: 'ann', sessionId: 's' };
    await app.sessions.beginTurn({ ...key, holder: 'w', requestId: 'r' });
    random.mockRestore();
  });

  afterEach(async () => {
    await app.close();
  });

  it('is tested for every route', () => {
    // Those with the ids in the body, and the list of apps, have tests of their own: test/agents/adk-routes, test/rest/apps.
    const mounted = app.routes().filter((route) => route.includes(' /apps/'));
    expect(routes.map(({ route }) => route).toSorted()).toEqual(mounted.toSorted());
  });

  const sessionRoutes = routes.filter(({ target }) => target === 'session');
  it.each(sessionRoutes.flatMap((each) => OTHER_CALLERS.map((who) => ({ ...each, who }))))(
    '$route responds to $who as if the session were missing',
    async ({ route, body, who }) => {
      const foreign = await ask(route, SESSION, who, body);
      const missing = await ask(route, MISSING, 'the admin', body);
      expect(foreign.status).toBe(missing.status);
      expect(foreign.text.replaceAll('"s\\"', '"none\\"')).toBe(missing.text);
      const untouched = await app.sessions.getSession({ appName: 'shop', userId: 'ann', sessionId: 's' });
      expect(untouched).toMatchObject({ version: 0 });
    },
  );

  it.each(routes)('$route returns 401 to anonymous callers, also for missing sessions', async ({ route, body }) => {
    for (const ids of [SESSION, MISSING]) {
      const answer = await ask(route, ids, 'anonymous', body);
      expect(answer.status).toBe(401);
      expect(answer.body).toMatchObject({ code: 'UNAUTHENTICATED' });
    }
    const untouched = await app.sessions.getSession({ appName: 'shop', userId: 'ann', sessionId: 's' });
    expect(untouched).toMatchObject({ version: 0 });
  });

  const otherRoutes = routes.filter(({ target }) => target !== 'session');
  it.each(otherRoutes.flatMap((each) => ALL_CALLERS.map((who) => ({ ...each, who }))))(
    '$route allows or refuses $who by the access rule',
    async ({ route, target, body, who }) => {
      const isAllowed =
        who === 'the admin' ||
        (target === 'app state read'
          ? who === 'the owner' || who === 'another user'
          : target === 'other' && who === 'the owner');
      const { status } = await ask(route, '/apps/shop/users/ann/sessions/new', who, body);
      expect(status < 400).toBe(isAllowed);
      if (!isAllowed) expect(status).toBe(who === 'anonymous' ? 401 : 403);
    },
  );

  it.each(sessionRoutes.filter(({ route }) => !route.endsWith('/stream')))(
    '$route works for the owner',
    async ({ route, body }) => {
      await summarise();
      if (/run|approvals/.test(route)) await askForApproval();
      expect((await ask(route, SESSION, 'the owner', body)).status).toBeLessThan(400);
    },
  );

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

  it.each([
    { route: `GET ${P}/:sessionId/summary`, need: 'read session' },
    { route: `POST ${P}/:sessionId/summary`, need: 'write session' },
    { route: `GET ${P}/:sessionId/summaries`, need: 'read session' },
  ])('$route requires $need', async ({ route, need }) => {
    const asked = jest.spyOn(OwnSessions.prototype, 'allows');
    try {
      await ask(route, SESSION, 'the owner');
      expect(asked.mock.calls.map(([{ action, target }]) => `${action} ${target}`)).toEqual([need]);
    } finally {
      asked.mockRestore();
    }
  });

  it('checks whether a fork may be created', async () => {
    const asked = jest.spyOn(OwnSessions.prototype, 'allows');
    try {
      await ask(`POST ${P}/:sessionId/fork`, SESSION, 'the owner', { newSessionId: 'copy' });
      const targets = asked.mock.calls.map(([{ action, target }]) => `${action} ${target}`);
      expect(targets).toEqual(['write session', 'create sessions']);
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

  /** Requests a route, with the ids of a path in it. */
  function ask(route: string, ids: string, who: Who, body?: unknown): Promise<Answer> {
    const [method = '', pattern = ''] = route.split(' ');
    const [, , appName = '', , userId = '', , sessionId = ''] = ids.split('/');
    const path = pattern
      .replace(':appName', appName)
      .replace(':userId', userId)
      .replace(':sessionId', sessionId)
      .replace(':approvalId', 'c1@i1');
    const headers = pattern.endsWith('/turn') ? { ...HEADERS[who], 'turn-token': TURN_TOKEN } : HEADERS[who];
    return app.request(method, pattern.endsWith('/at') ? `${path}?seq=0` : path, body, headers);
  }
});
