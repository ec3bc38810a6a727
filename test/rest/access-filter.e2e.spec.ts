import { SessionService } from '../../src/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { storeOfEachKind } from '../support/stores.js';
import {
  FOREIGN,
  HELLO,
  MISSING,
  NORTH,
  OWN,
  SHOP,
  SOUTH,
  TEAMS,
  TeamAccess,
  contentOf,
  idsIn,
  labelled,
  moveTo,
  ofUser,
  plant,
} from '../support/team-access.js';
import { type Answer, RestApp } from './rest-app.js';

describe.each(storeOfEachKind)('a rule that returns a filter, over REST on $name', ({ open }) => {
  let store: OpenStorage;
  let app: RestApp;
  const list = async (path: string, headers: Record<string, string> = TEAMS.north): Promise<Answer> =>
    app.request('GET', path, undefined, headers);

  beforeAll(async () => {
    store = await open({});
    const sessions = new SessionService({ storage: store.storage });
    app = await RestApp.start('Express', {
      access: TeamAccess,
      streams: { recheckSeconds: 0.02 },
      services: { sessions },
    });
    await plant(sessions);
  });
  afterAll(async () => {
    await app.close();
    await store.destroy();
  });

  it('lists only what it matches, of the app and of a user', async () => {
    expect(idsIn((await list('/apps/shop/sessions')).body.sessions)).toEqual(['n1', 'n2']);
    expect(idsIn((await list('/apps/shop/sessions', TEAMS.south)).body.sessions)).toEqual(['s1']);
    expect(idsIn((await list(ofUser('ann'))).body.sessions)).toEqual(['n1']);
    expect(idsIn((await list(ofUser('cat'))).body.sessions)).toEqual([]);
    expect(idsIn((await list('/apps/shop/sessions', TEAMS.admin)).body.sessions)).toHaveLength(4);
  });

  it('lists only what it matches page by page, and a cursor belongs to it', async () => {
    const first = await list('/apps/shop/sessions?limit=1&orderBy=createTime');
    const cursor = encodeURIComponent(String(first.body.nextCursor));
    const next = await list(`/apps/shop/sessions?limit=1&orderBy=createTime&cursor=${cursor}`);
    expect([...idsIn(first.body.sessions), ...idsIn(next.body.sessions)].toSorted()).toEqual(['n1', 'n2']);
    expect(next.body.nextCursor).toBeUndefined();
    for (const headers of [TEAMS.south, TEAMS.admin]) {
      const taken = await list(`/apps/shop/sessions?limit=1&orderBy=createTime&cursor=${cursor}`, headers);
      expect(taken).toMatchObject({ status: 400, body: { path: 'cursor' } });
    }
  });

  it('holds together with the filter of the request', async () => {
    expect(idsIn((await list('/apps/shop/sessions?status=open')).body.sessions)).toEqual(['n1']);
    expect(idsIn((await list('/apps/shop/sessions?label=team:north&status=closed')).body.sessions)).toEqual(['n2']);
  });

  it.each([
    '?label=team:south',
    '?label=team:north&label=team:south',
    '?within=%7B%7D',
    '?filter=%7B%7D',
    '?page=1',
    '?offset=0',
    `?${Array.from({ length: 16 }, (_, index) => `tag=t${index}`).join('&')}`,
    '?label=team:south&limit=1&orderBy=createTime&order=asc',
  ])('cannot be widened by the request %s', async (query) => {
    const lists = jest.spyOn(store.storage, 'list');
    const { status, body } = await list(`/apps/shop/sessions${query}`);
    if (status === 200) expect(body.sessions).toEqual([]);
    else expect(status).toBe(400);
    // What nothing can match is not looked for.
    expect(lists).not.toHaveBeenCalled();
    lists.mockRestore();
  });

  it.each([
    ['GET', '', undefined],
    ['GET', '/events', undefined],
    ['GET', '/events/stream', undefined],
    ['GET', '/state', undefined],
    ['GET', '/state/at?seq=0', undefined],
    ['GET', '/usage', undefined],
    ['GET', '/turn', undefined],
    ['POST', '/turn', { holder: 'w', requestId: 'r' }],
    ['POST', '/events', HELLO],
    ['POST', '/events', labelled({ team: 'north' })],
    ['POST', '/events', labelled({ team: null })],
    ['POST', '/events/batch', { events: [labelled({ team: 'north' }), HELLO] }],
    ['PATCH', '/state', { stateDelta: { seen: true } }],
    ['POST', '/rewind', { toSeq: 0 }],
    ['POST', '/fork', { newSessionId: 'copy' }],
    ['DELETE', '', undefined],
  ])('%s …%s with %j hides a session of another team', async (method, path, body) => {
    const before = await contentOf(app.sessions, 's1');
    const foreign = await app.request(method, FOREIGN + path, body, TEAMS.north);
    const missing = await app.request(method, MISSING + path, body, TEAMS.admin);
    expect(foreign.status).toBe(missing.status);
    expect(foreign.text.replaceAll('"s1\\"', '"none\\"')).toBe(missing.text);
    expect(await contentOf(app.sessions, 's1')).toEqual(before);
    const absent = await app.request(method, MISSING + path, body, TEAMS.north);
    expect([absent.status, absent.text]).toEqual([missing.status, missing.text]);
  });

  it.each([
    ['POST', '/events', labelled({ team: 'south' })],
    ['POST', '/events', labelled({ team: null })],
    ['POST', '/events', labelled({ team: 'north', other: 'x', team2: 'y' }), 201],
    ['POST', '/events/batch', { events: [HELLO, labelled({ team: 'south' }), labelled({ team: 'north' })] }],
    ['POST', '/events/batch', { events: [labelled({ team: 'south' })] }],
  ])('%s …%s with %j does not move a session to another team', async (method, path, body, expected = 403) => {
    const before = await contentOf(app.sessions, 'n1');
    const { status } = await app.request(method, OWN + path, body, TEAMS.north);
    expect(status).toBe(expected);
    if (expected === 403) expect(await contentOf(app.sessions, 'n1')).toEqual(before);
    expect(idsIn((await list('/apps/shop/sessions', TEAMS.south)).body.sessions)).toEqual(['s1']);
  });

  it.each([
    { id: 'a', metadata: undefined, status: 403 },
    { id: 'b', metadata: SOUTH, status: 403 },
    { id: 'c', metadata: { labels: {} }, status: 403 },
    { id: 'd', metadata: { ...NORTH, tags: ['new'] }, status: 201 },
  ])('creates a session with $metadata: $status', async ({ id, metadata, status }) => {
    const path = `${ofUser('dan')}/${id}`;
    expect((await app.request('POST', path, { metadata }, TEAMS.north)).status).toBe(status);
    expect((await app.request('GET', path, undefined, TEAMS.north)).status).toBe(status === 201 ? 200 : 404);
    const { sessions } = await app.sessions.listSessions({ ...SHOP, userId: 'dan' });
    expect(sessions.map((session) => session.id).includes(id)).toBe(status === 201);
    await app.sessions.deleteSession({ ...SHOP, userId: 'dan', sessionId: id });
  });

  it('lets a team work on its own session, and fork it', async () => {
    for (const [method, path, body, status] of [
      ['GET', '', undefined, 200],
      ['POST', '/events', HELLO, 201],
      ['PATCH', '/state', { stateDelta: { seen: true } }, 200],
      ['POST', '/fork', { newSessionId: 'copy' }, 201],
    ] as const) {
      expect((await app.request(method, OWN + path, body, TEAMS.north)).status).toBe(status);
    }
    const copy = `${ofUser('ann')}/copy`;
    expect((await app.request('GET', copy, undefined, TEAMS.south)).status).toBe(404);
    expect((await app.request('DELETE', copy, undefined, TEAMS.north)).status).toBe(204);
    expect((await app.request('GET', copy, undefined, TEAMS.admin)).status).toBe(404);
  });

  it('refuses what belongs to no session', async () => {
    for (const path of [
      '/apps/shop/usage',
      '/apps/shop/users/ann/usage',
      '/apps/shop/state',
      '/apps/shop/users/ann/state',
    ])
      expect((await list(path)).status).toBe(403);
    const shared = await app.request('PATCH', `${OWN}/state`, { stateDelta: { 'user:theme': 'dark' } }, TEAMS.north);
    expect(shared.status).toBe(403);
    expect((await list('/apps')).body).toMatchObject({ apps: ['shop'] });
  });

  it('ends an open stream when the session does not match any more', async () => {
    const response = await fetch(`${app.url}${OWN}/events/stream?afterSeq=0`, { headers: TEAMS.north });
    expect(response.status).toBe(200);
    await moveTo(app.sessions, 'n1', 'south');
    const said = await response.text();
    const problem: unknown = JSON.parse(/event: problem\ndata: (.+)\n/.exec(said)?.[1] ?? '');
    expect(problem).toMatchObject({ status: 404, code: 'SESSION_NOT_FOUND' });
    expect(idsIn((await list('/apps/shop/sessions')).body.sessions)).toEqual(['n2']);
    await moveTo(app.sessions, 'n1', 'north');
  });
});
