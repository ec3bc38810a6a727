import { type Answer, RestApp, frameworks } from './rest-app.js';

const SESSIONS = '/apps/shop/users/ann/sessions';
const HELLO = { author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } };

/** HTTP conventions that clients expect without reading the docs. */
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
  const get = (path: string): Promise<Answer> => app.request('GET', path);

  it.each(['limit=2&page=1', 'limit=2&offset=0', 'limit=2'])('link to the next page after %s', async (query) => {
    for (const id of ['a', 'b', 'c', 'd', 'e']) await post(`${SESSIONS}/${id}`);
    const seen: string[] = [];
    let answer = await get(`${SESSIONS}?order=asc&orderBy=createTime&${query}`);
    for (;;) {
      expect(answer.status).toBe(200);
      seen.push(...idsOf(answer));
      const next = linksOf(answer).next;
      if (next === undefined) break;
      answer = await get(next);
    }
    expect(seen).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(idsOf(await get(linksOf(answer).first ?? ''))).toEqual(['a', 'b']);
    const { prev } = linksOf(answer);
    if (prev !== undefined) expect(idsOf(await get(prev))).toEqual(['c', 'd']);
    expect(prev === undefined).toBe(query === 'limit=2');
  });

  it('return no cursor with page or offset', async () => {
    for (const id of ['a', 'b']) await post(`${SESSIONS}/${id}`);
    expect((await get(`${SESSIONS}?limit=1&page=1`)).body).not.toHaveProperty('nextCursor');
    expect((await get(`${SESSIONS}?limit=1`)).body).toHaveProperty('nextCursor');
    expect(linksOf(await get(`${SESSIONS}?limit=0&page=1`))).toEqual({});
  });

  const bodyRoutes = [
    ['POST', SESSIONS],
    ['POST', `${SESSIONS}/new`],
    ['POST', `${SESSIONS}/s/events`],
    ['PATCH', `${SESSIONS}/s/state`],
    ['POST', `${SESSIONS}/s/rewind`],
    ['POST', `${SESSIONS}/s/fork`],
    ['PATCH', '/apps/shop/users/ann/state'],
    ['PATCH', '/apps/shop/state'],
  ] as const;
  const wrongTypes = ['text/plain', 'application/x-www-form-urlencoded', 'text/csv', 'application/merge-patch+json'];
  it.each(bodyRoutes.flatMap(([method, path]) => wrongTypes.map((type) => ({ method, path, type }))))(
    'refuse $type at $method $path instead of ignoring the body',
    async ({ method, path, type }) => {
      await post(`${SESSIONS}/s`);
      const answer = await app.request(method, path, 'a=1', { 'content-type': type });
      expect(answer).toMatchObject({ status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE', status: 415 } });
      expect(answer.headers.get('content-type')).toContain('application/problem+json');
      expect((await get(`${SESSIONS}/s`)).body.version).toBe(0);
    },
  );

  it('forbid caching, and send an ETag only for versions', async () => {
    await post(`${SESSIONS}/s`);
    const answers = [
      await get(SESSIONS),
      await get(`${SESSIONS}/s/events`),
      await get(`${SESSIONS}/none`),
      await get('/apps/shop/state'),
      await app.request('PATCH', '/apps/shop/state', { stateDelta: { tax: 19 } }),
      await post(`${SESSIONS}/s/events`, { ...HELLO, partial: true }),
      await post(`${SESSIONS}/s/events`, '{bad'),
      await app.request('DELETE', `${SESSIONS}/s`),
    ];
    for (const { headers } of answers) {
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('etag')).toBeNull();
    }
  });

  it('return the version after every write', async () => {
    const created = await post(`${SESSIONS}/s`);
    const first = await post(`${SESSIONS}/s/events`, HELLO, { 'if-match': tagOf(created) });
    const second = await app.request(
      'PATCH',
      `${SESSIONS}/s/state`,
      { stateDelta: { k: 1 } },
      { 'if-match': tagOf(first) },
    );
    expect([created, first, second].map(tagOf)).toEqual(['"0"', '"1"', '"2"']);
    const repeated = await post(`${SESSIONS}/s/events`, HELLO, { 'idempotency-key': String(first.body.id) });
    // The caller of a retry does not know later events, so the ETag is the version of the event.
    expect([repeated.status, tagOf(repeated)]).toEqual([200, '"1"']);
    expect((await post(`${SESSIONS}/s/events`, HELLO, { 'if-match': tagOf(repeated) })).status).toBe(412);
    const rewound = await post(`${SESSIONS}/s/rewind`, { toSeq: 1 });
    expect((await post(`${SESSIONS}/s/events`, HELLO, { 'if-match': tagOf(rewound) })).status).toBe(201);
  });

  it('accept If-Match: * for any existing session', async () => {
    await post(`${SESSIONS}/s`);
    const anyVersion = { 'if-match': '*' };
    expect((await post(`${SESSIONS}/s/events`, HELLO, anyVersion)).status).toBe(201);
    expect((await app.request('PATCH', `${SESSIONS}/s/state`, { stateDelta: { k: 1 } }, anyVersion)).status).toBe(200);
    expect((await post(`${SESSIONS}/none/events`, HELLO, anyVersion)).status).toBe(404);
  });

  it('refuse If-Match on routes that do not support it', async () => {
    await post(`${SESSIONS}/s`);
    const version = { 'if-match': '"0"' };
    const refusals = [
      await app.request('DELETE', `${SESSIONS}/s`, undefined, version),
      await post(`${SESSIONS}/s/fork`, {}, version),
      await post(`${SESSIONS}/t`, {}, version),
      await app.request('PATCH', '/apps/shop/users/ann/state', { stateDelta: { k: 1 } }, version),
      await app.request('PATCH', '/apps/shop/state', { stateDelta: { k: 1 } }, version),
    ];
    for (const { status, body } of refusals) expect([status, body.path]).toEqual([400, 'If-Match']);
    expect((await get(SESSIONS)).body.sessions).toHaveLength(1);
    expect((await get('/apps/shop/state')).body).toEqual({});
    expect((await app.request('DELETE', `${SESSIONS}/s`, undefined, { 'if-match': '*' })).status).toBe(204);
  });

  it.each([{}, { toSeq: 0, invocationId: 'i' }])('explain what a rewind with the body %j lacks', async (body) => {
    await post(`${SESSIONS}/s`);
    const { status, body: problem } = await post(`${SESSIONS}/s/rewind`, body);
    expect({ status, problem }).toMatchObject({ status: 400, problem: { path: 'body' } });
    expect(problem.detail).toContain('toSeq');
    expect(problem.detail).toContain('invocationId');
  });

  it('do not name methods of the library in problems', async () => {
    await post(`${SESSIONS}/s`);
    const refusals = [
      await post(`${SESSIONS}/s`),
      await get(`${SESSIONS}/none`),
      await post(`${SESSIONS}/s/events`, HELLO, { 'if-match': '"7"' }),
      await get(`${SESSIONS}?offset=10001`),
      await post(`${SESSIONS}/s/events`, '[]'),
    ];
    for (const { status, body } of refusals) {
      expect(status).toBeGreaterThanOrEqual(400);
      expect(body.detail).not.toMatch(/[a-z](Session|State|Event)s?\b/);
    }
  });

  it('send the Location of a fork', async () => {
    await post(`${SESSIONS}/s`);
    const forked = await post(`${SESSIONS}/s/fork`, { newSessionId: 'a copy' });
    expect(forked.headers.get('location')).toBe(`${SESSIONS}/a%20copy`);
    expect(tagOf(forked)).toBe('"0"');
  });
});

function idsOf({ body }: Answer): string[] {
  return (body.sessions as { id: string }[]).map(({ id }) => id);
}

function tagOf({ headers }: Answer): string {
  return headers.get('etag') ?? '';
}

function linksOf({ headers }: Answer): Record<string, string> {
  const links = (headers.get('link') ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g);
  return Object.fromEntries([...links].map(([, url = '', relation = '']) => [relation, url]));
}
