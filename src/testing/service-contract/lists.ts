import type { ListSessionsRequest } from '../../sessions/operations/list-sessions.js';
import type { ManualClock } from '../manual-clock.js';
import type { SessionClient } from '../open-sessions.js';
import { topic } from '../contract-runner.js';
import { KEY, type ServiceFixture, USER, agentSays, expectRefusal, times, userSays } from './support.js';

async function createdInTurn(sessions: SessionClient, clock: ManualClock, ids: readonly string[]): Promise<void> {
  for (const sessionId of ids) {
    clock.advance(1);
    await sessions.createSession({ ...USER, sessionId });
  }
}

async function touch(sessions: SessionClient, clock: ManualClock, id: string): Promise<void> {
  clock.advance(1);
  await sessions.appendEvent({ session: { ...USER, id }, event: agentSays('touched') });
}

async function listSessionIds(sessions: SessionClient, request: Partial<ListSessionsRequest> = {}): Promise<string[]> {
  return (await sessions.listSessions({ ...USER, ...request })).sessions.map(({ id }) => id);
}

/** Reads all pages, and runs `between` before each page but the first. */
async function walk(
  sessions: SessionClient,
  request: Partial<ListSessionsRequest>,
  between: (page: number) => Promise<unknown> = async () => undefined,
): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page === 0 || cursor; page++) {
    if (page > 0) await between(page);
    const { sessions: listed, nextCursor } = await sessions.listSessions({ ...USER, ...request, cursor });
    ids.push(...listed.map(({ id }) => id));
    cursor = nextCursor;
  }
  return ids;
}

export const lists = topic<ServiceFixture>('listSessions', (test) => {
  test('the last updated session comes first', async ({ open, clock }) => {
    const { sessions } = await open();
    await createdInTurn(sessions, clock, ['a', 'b', 'c']);
    await touch(sessions, clock, 'b');
    expect(await listSessionIds(sessions)).toEqual(['b', 'c', 'a']);
    expect(await listSessionIds(sessions, { order: 'asc' })).toEqual(['a', 'c', 'b']);
    expect(await listSessionIds(sessions, { orderBy: 'createTime' })).toEqual(['c', 'b', 'a']);
    expect(await listSessionIds(sessions, { orderBy: 'createTime', order: 'asc' })).toEqual(['a', 'b', 'c']);
  });

  test('sessions with the same time are ordered by the bytes of their ids', async ({ open }) => {
    const { sessions } = await open();
    const ids = ['B', 'a', 'é', '\uFF5E', '😀'];
    for (const sessionId of ['😀', 'a', '\uFF5E', 'B', 'é']) await sessions.createSession({ ...USER, sessionId });
    expect(await listSessionIds(sessions, { order: 'asc' })).toEqual(ids);
    expect(await listSessionIds(sessions)).toEqual(ids.toReversed());
    expect(await walk(sessions, { limit: 1, order: 'asc' })).toEqual(ids);
  });

  test('a listed session has merged state and no events', async ({ open, clock }) => {
    const { sessions } = await open();
    const state = { k: 1, 'user:k': 2, 'app:k': 3 };
    const session = await sessions.createSession({ ...KEY, state });
    clock.advance(5);
    await sessions.appendEvent({ session, event: userSays('one') });
    const [listed] = (await sessions.listSessions(USER)).sessions;
    expect(listed).toMatchObject({ id: 's-1', events: [], version: 1, conversationCount: 1 });
    expect(listed?.lastUpdateTime).toBe(session.lastUpdateTime);
    expect(listed?.state.toRecord()).toEqual(state);
  });

  test('a listed session can be appended to', async ({ open }) => {
    const { sessions } = await open();
    await sessions.createSession(KEY);
    const [listed] = (await sessions.listSessions(USER)).sessions;
    if (!listed) throw new Error('The session is not listed');
    await sessions.appendEvent({ session: listed, event: userSays('one'), expectedVersion: listed.version });
    expect(listed).toMatchObject({ version: 1, events: [{ seq: 1 }] });
  });

  test('a list holds the sessions of one user, or of the whole app', async ({ open }) => {
    const { sessions } = await open();
    for (const appName of ['shop', 'Shop']) {
      for (const userId of ['ann', 'Ann', 'bob']) await sessions.createSession({ appName, userId, sessionId: userId });
    }
    expect(await listSessionIds(sessions)).toEqual(['ann']);
    const { sessions: all } = await sessions.listSessions({ appName: 'shop', order: 'asc' });
    expect(all.map(({ appName, userId }) => `${appName}/${userId}`)).toEqual(['shop/Ann', 'shop/ann', 'shop/bob']);
    expect(await listSessionIds(sessions, { appName: 'nothing' })).toEqual([]);
  });

  test('a page has 100 sessions by default, and at most 1,000', async ({ open }) => {
    const { sessions } = await open();
    for (const index of times(101, (i) => i)) await sessions.createSession({ ...USER, sessionId: `s${index}` });
    const page = await sessions.listSessions(USER);
    expect(page.sessions).toHaveLength(100);
    expect(page.limit).toBe(100);
    expect(await listSessionIds(sessions, { cursor: page.nextCursor })).toHaveLength(1);
    expect(await listSessionIds(sessions, { limit: 1000 })).toHaveLength(101);
    await expectRefusal(sessions.listSessions({ ...USER, limit: 1001 }), 'INVALID_INPUT', { path: 'limit' });
  });

  test('the last page has no cursor', async ({ open, clock }) => {
    const { sessions } = await open();
    expect(await sessions.listSessions(USER)).toEqual({ sessions: [], limit: 100 });
    await createdInTurn(sessions, clock, ['a', 'b']);
    expect(await sessions.listSessions({ ...USER, limit: 2 })).not.toHaveProperty('nextCursor');
    expect(await sessions.listSessions({ ...USER, limit: 1 })).toHaveProperty('nextCursor');
  });

  test('pages together hold every session once, in either order and by either time', async ({ open, clock }) => {
    const { sessions } = await open();
    const ids = times(7, (index) => `s${index}`);
    await createdInTurn(sessions, clock, ids);
    for (const orderBy of ['lastUpdateTime', 'createTime'] as const) {
      expect(await walk(sessions, { limit: 3, orderBy, order: 'asc' })).toEqual(ids);
      expect(await walk(sessions, { limit: 3, orderBy })).toEqual(ids.toReversed());
    }
  });

  test('an unchanged session appears exactly once while others change', async ({ open, clock }) => {
    const { sessions } = await open();
    const ids = times(12, (index) => `s${String(index).padStart(2, '0')}`);
    for (const order of ['asc', 'desc'] as const) {
      await createdInTurn(sessions, clock, ids);
      const touched = ['s01', 's05', 's06', 's10'];
      const seen = await walk(sessions, { limit: 2, order }, async (page) => {
        if (page > 4) return;
        await touch(sessions, clock, touched[page - 1] ?? 's01');
        await sessions.createSession({ ...USER, sessionId: `new ${order} ${page}` });
        if (page === 2) await sessions.deleteSession({ ...USER, sessionId: 's03' });
      });
      for (const id of ids.filter((candidate) => !touched.includes(candidate) && candidate !== 's03')) {
        expect(seen.filter((candidate) => candidate === id)).toEqual([id]);
      }
      for (const id of await listSessionIds(sessions)) await sessions.deleteSession({ ...USER, sessionId: id });
    }
  });

  test('pages by createTime are complete even while every session changes', async ({ open, clock }) => {
    const { sessions } = await open();
    const ids = times(9, (index) => `s${index}`);
    await createdInTurn(sessions, clock, ids);
    const seen = await walk(sessions, { limit: 2, orderBy: 'createTime' }, async () => {
      for (const id of ids) await touch(sessions, clock, id);
    });
    expect(seen).toEqual(ids.toReversed());
  });

  test('pages can be counted, with totals', async ({ open, clock }) => {
    const { sessions } = await open();
    await createdInTurn(sessions, clock, ['a', 'b', 'c', 'd', 'e']);
    const second = await sessions.listSessions({ ...USER, page: 2, limit: 2 });
    expect(second.sessions.map(({ id }) => id)).toEqual(['c', 'b']);
    expect(second).toMatchObject({ page: 2, limit: 2, totalItems: 5, totalPages: 3 });
    const third = await sessions.listSessions({ ...USER, offset: 4, limit: 2 });
    expect(third.sessions.map(({ id }) => id)).toEqual(['a']);
    expect(third).toMatchObject({ page: 3, totalItems: 5, totalPages: 3 });
    expect(await sessions.listSessions({ ...USER, page: 9, limit: 2 })).toMatchObject({ sessions: [], totalItems: 5 });
    expect(await sessions.listSessions(USER)).not.toHaveProperty('totalItems');
  });

  test('an offset is at most 10,000', async ({ open }) => {
    const { sessions } = await open();
    expect(await listSessionIds(sessions, { offset: 10_000 })).toEqual([]);
    await expectRefusal(sessions.listSessions({ ...USER, offset: 10_001 }), 'INVALID_INPUT', { path: 'offset' });
    await expectRefusal(sessions.listSessions({ ...USER, page: 102, limit: 100 }), 'INVALID_INPUT', { path: 'offset' });
  });

  test('page, offset and cursor exclude each other', async ({ open }) => {
    const { sessions } = await open();
    await expectRefusal(sessions.listSessions({ ...USER, page: 1, offset: 0 }), 'INVALID_INPUT', { path: 'page' });
  });

  test('a cursor belongs to its order, and cannot be combined with a page', async ({ open, clock }) => {
    const { sessions } = await open();
    await createdInTurn(sessions, clock, ['a', 'b']);
    const { nextCursor: cursor } = await sessions.listSessions({ ...USER, limit: 1 });
    for (const other of [{ order: 'asc' }, { orderBy: 'createTime' }, { page: 1 }, { offset: 0 }] as const) {
      await expectRefusal(sessions.listSessions({ ...USER, limit: 1, cursor, ...other }), 'INVALID_INPUT', {
        path: 'cursor',
      });
    }
  });
});
