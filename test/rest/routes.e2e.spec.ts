import { type Answer, RestApp, frameworks } from './rest-app.js';

const SESSIONS = '/apps/shop/users/ann/sessions';
const HELLO = { author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } };

describe.each(frameworks)('the routes of sessions on %s', (framework) => {
  let app: RestApp;

  beforeEach(async () => {
    app = await RestApp.start(framework);
  });

  afterEach(async () => {
    await app.close();
  });

  const post = (path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> =>
    app.request('POST', path, body, headers);
  const get = (path: string, headers?: Record<string, string>): Promise<Answer> =>
    app.request('GET', path, undefined, headers);

  it('create a session with a generated or a given id, and send its Location', async () => {
    const own = await post(SESSIONS, { state: { step: 1, 'user:theme': 'dark' } });
    expect(own.status).toBe(201);
    expect(own.body).toMatchObject({ appName: 'shop', userId: 'ann', version: 0, events: [] });
    expect(own.body.state).toEqual({ step: 1, 'user:theme': 'dark' });
    const found = await get(own.headers.get('location') ?? '');
    expect(found.body.id).toBe(own.body.id);

    expect((await post(`${SESSIONS}/mine`)).body.id).toBe('mine');
    expect((await post(SESSIONS, { sessionId: 'other' })).body.id).toBe('other');
    const again = await post(`${SESSIONS}/mine`, { state: { step: 9 } });
    expect(again).toMatchObject({ status: 409, body: { code: 'SESSION_EXISTS', status: 409 } });
    expect(again.headers.get('content-type')).toContain('application/problem+json');
  });

  it('get a session with its view, narrowed by the query', async () => {
    await post(`${SESSIONS}/s`);
    for (let number = 1; number <= 3; number++) await post(`${SESSIONS}/s/events`, { ...HELLO, id: `e-${number}` });
    const whole = await get(`${SESSIONS}/s`);
    expect(whole.body).toMatchObject({ version: 3, conversationCount: 3 });
    expect(whole.headers.get('etag')).toBe('"3"');
    expect(idsOf(await get(`${SESSIONS}/s?numRecentEvents=1`))).toEqual(['e-3']);
    expect(idsOf(await get(`${SESSIONS}/s?afterSeq=1`))).toEqual(['e-2', 'e-3']);
    expect(await get(`${SESSIONS}/none`)).toMatchObject({ status: 404, body: { code: 'SESSION_NOT_FOUND' } });
  });

  it('never answer 304, since shared state changes without the version', async () => {
    await post(`${SESSIONS}/s`);
    const first = await get(`${SESSIONS}/s`);
    await app.sessions.updateUserState({ appName: 'shop', userId: 'ann', stateDelta: { theme: 'light' } });
    const second = await get(`${SESSIONS}/s`, { 'if-none-match': first.headers.get('etag') ?? '' });
    expect(second).toMatchObject({ status: 200, body: { state: { 'user:theme': 'light' } } });
    expect(second.headers.get('cache-control')).toBe('no-store');
  });

  it('append an event with an Idempotency-Key once', async () => {
    await post(`${SESSIONS}/s`);
    const key = { 'idempotency-key': 'order-7' };
    const stored = await post(`${SESSIONS}/s/events`, HELLO, key);
    expect(stored).toMatchObject({ status: 201, body: { id: 'order-7', seq: 1 } });
    const repeated = await post(`${SESSIONS}/s/events`, HELLO, key);
    expect(repeated).toMatchObject({ status: 200, body: stored.body });
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    const other = await post(`${SESSIONS}/s/events`, { ...HELLO, author: 'agent' }, key);
    expect(other).toMatchObject({ status: 409, body: { code: 'EVENT_CONFLICT' } });
    const mixed = await post(`${SESSIONS}/s/events`, { ...HELLO, id: 'else' }, key);
    expect(mixed).toMatchObject({ status: 400, body: { path: 'Idempotency-Key' } });
  });

  it('recognise an event that is sent as it was returned', async () => {
    await post(`${SESSIONS}/s`);
    const { body } = await post(`${SESSIONS}/s/events`, HELLO);
    expect(await post(`${SESSIONS}/s/events`, body)).toMatchObject({ status: 200, body });
    const later = { ...body, timestamp: Number(body.timestamp) + 1 };
    expect(await post(`${SESSIONS}/s/events`, later)).toMatchObject({ status: 409, body: { code: 'EVENT_CONFLICT' } });
  });

  it('refuse an event without an author, such as one wrapped in another object', async () => {
    await post(`${SESSIONS}/s`);
    for (const event of [{}, { event: HELLO }]) {
      const refused = await post(`${SESSIONS}/s/events`, event);
      expect(refused).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT', path: '$.author' } });
      expect(refused.body.detail).toContain('must be sent without that object around it');
    }
    expect((await get(`${SESSIONS}/s`)).body.version).toBe(0);
  });

  it('append with If-Match only if no other writer was faster', async () => {
    await post(`${SESSIONS}/s`);
    expect((await post(`${SESSIONS}/s/events`, HELLO, { 'if-match': '"0"' })).status).toBe(201);
    const late = await post(`${SESSIONS}/s/events`, HELLO, { 'if-match': '"0"' });
    expect(late).toMatchObject({ status: 412, body: { code: 'STALE_SESSION', currentVersion: 1 } });
    expect((await post(`${SESSIONS}/s/events`, HELLO, { 'if-match': '*' })).status).toBe(201);
    expect(await post(`${SESSIONS}/s/events`, HELLO, { 'if-match': 'one' })).toMatchObject({ status: 400 });
  });

  it('return partial events and store nothing', async () => {
    await post(`${SESSIONS}/s`);
    const partial = { ...HELLO, partial: true };
    expect(await post(`${SESSIONS}/s/events`, partial)).toMatchObject({ status: 200, body: partial });
    expect((await get(`${SESSIONS}/s`)).body.version).toBe(0);
  });

  it('list sessions and events page by page, by links', async () => {
    for (const id of ['a', 'b', 'c']) await post(`${SESSIONS}/${id}`);
    for (let number = 1; number <= 5; number++) await post(`${SESSIONS}/a/events`, { ...HELLO, id: `e-${number}` });
    expect(await idsByLinks(`${SESSIONS}?limit=2&orderBy=createTime&order=asc`, 'sessions')).toEqual(['a', 'b', 'c']);
    expect(await idsByLinks(`${SESSIONS}/a/events?limit=2`, 'events')).toEqual(['e-1', 'e-2', 'e-3', 'e-4', 'e-5']);
    const paged = await get(`${SESSIONS}?limit=2&page=2`);
    expect(paged.body).toMatchObject({ page: 2, totalItems: 3, totalPages: 2 });
  });

  it('read and change state in its scopes', async () => {
    await post(`${SESSIONS}/s`, { state: { step: 1, old: true } });
    const changed = await app.request('PATCH', `${SESSIONS}/s/state`, {
      stateDelta: { step: 2, 'app:tax': 19 },
      stateRemovals: ['old'],
    });
    expect(changed).toMatchObject({ status: 200, body: { author: 'system', seq: 1 } });
    expect((await get(`${SESSIONS}/s/state`)).body).toEqual({ step: 2, 'app:tax': 19 });
    expect((await app.request('PATCH', '/apps/shop/users/ann/state', { stateDelta: { theme: 'dark' } })).body).toEqual({
      theme: 'dark',
    });
    expect((await get('/apps/shop/users/ann/state')).body).toEqual({ theme: 'dark' });
    expect((await get('/apps/shop/state')).body).toEqual({ tax: 19 });
    await app.request('PATCH', '/apps/shop/state', { stateRemovals: ['tax'] });
    await app.request('PATCH', '/apps/shop/users/ann/state', { stateRemovals: ['theme'] });
    expect((await get(`${SESSIONS}/s/state`)).body).toEqual({ step: 2 });
  });

  it('rewind and fork', async () => {
    await post(`${SESSIONS}/s`);
    await post(`${SESSIONS}/s/events`, { ...HELLO, actions: { stateDelta: { step: 1 } } });
    await post(`${SESSIONS}/s/events`, { ...HELLO, actions: { stateDelta: { step: 2 } } });
    const forked = await post(`${SESSIONS}/s/fork`, { newSessionId: 'copy' });
    expect(forked).toMatchObject({ status: 201, body: { id: 'copy', state: { step: 2 }, version: 2 } });
    const rewound = await post(`${SESSIONS}/s/rewind`, { toSeq: 1 });
    expect(rewound).toMatchObject({ status: 200, body: { state: { step: 1 } } });
    expect((await get(`${SESSIONS}/copy/state`)).body).toEqual({ step: 2 });
  });

  it('delete a session, and respond in the same way to a missing one', async () => {
    await post(`${SESSIONS}/s`);
    expect((await app.request('DELETE', `${SESSIONS}/s`)).status).toBe(204);
    expect((await app.request('DELETE', `${SESSIONS}/s`)).status).toBe(204);
    expect((await get(`${SESSIONS}/s`)).status).toBe(404);
  });

  it.each(['a/b', 'a%2Fb', '../x', 'ü 😀', '*?#&', ':{}', '__proto__', 'x'.repeat(191)])(
    'accept %p as an id',
    async (id) => {
      const path = `/apps/shop/users/${encodeURIComponent(id)}/sessions/${encodeURIComponent(id)}`;
      const created = await post(path);
      expect(created).toMatchObject({ status: 201, body: { id, userId: id } });
      expect(await get(created.headers.get('location') ?? '')).toMatchObject({ status: 200, body: { id } });
    },
  );

  it('keep keys such as __proto__', async () => {
    await post(`${SESSIONS}/s`);
    const state = '{"__proto__":{"a":1},"constructor":2,"prototype":[]}';
    await post(`${SESSIONS}/s/events`, `{"author":"agent","actions":{"stateDelta":${state}}}`);
    expect(JSON.stringify((await get(`${SESSIONS}/s/state`)).body)).toBe(state);
    expect(Object.hasOwn(Object.prototype, 'a')).toBe(false);
  });

  async function idsByLinks(path: string, list: 'sessions' | 'events'): Promise<string[]> {
    const ids: string[] = [];
    let next: string | undefined = path;
    while (next !== undefined) {
      const { body, headers }: Answer = await get(next);
      ids.push(...(body[list] as { id: string }[]).map(({ id }) => id));
      next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
    }
    return ids;
  }
});

function idsOf({ body }: Answer): string[] {
  return (body.events as { id: string }[]).map(({ id }) => id);
}
