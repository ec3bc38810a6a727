import type { SessionFilter } from '../../sessions/domain/metadata/session-filter.js';
import type { ListSessionsRequest } from '../../sessions/operations/list-sessions.js';
import type { SessionClient } from '../open-sessions.js';
import { topic } from '../contract-runner.js';
import {
  KEY,
  REFERENCE,
  type ServiceFixture,
  USER,
  appendAll,
  expectRefusal,
  rewindTo,
  times,
  userSays,
} from './support.js';

async function listFilteredIds(
  sessions: SessionClient,
  filter: SessionFilter,
  request: Partial<ListSessionsRequest> = {},
): Promise<string[]> {
  const { sessions: listed } = await sessions.listSessions({ ...USER, order: 'asc', ...request, filter });
  return listed.map(({ id }) => id);
}

const create = async (sessions: SessionClient, sessionId: string, metadata: object) =>
  sessions.createSession({ ...USER, sessionId, metadata });

/** With the path at which it is refused. */
const INVALID: readonly (readonly [filter: unknown, path: string])[] = [
  ['open', ''],
  [['open'], ''],
  [{ title: 'Refund' }, '.title'],
  [{ status: 7 }, '.status'],
  [{ status: '' }, '.status'],
  [{ tags: 'vip' }, '.tags'],
  [{ tags: ['a\nb'] }, '.tags[0]'],
  [{ labels: { region: null } }, '.labels.region'],
  [{ labels: ['region'] }, '.labels'],
];

export const filteredLists = topic<ServiceFixture>('listSessions with a filter', (test) => {
  test('sessions are found by status, tags and labels, and by all of them together', async ({ open }) => {
    const { sessions } = await open();
    await create(sessions, 'a', { status: 'open', tags: ['vip', 'new'], labels: { region: 'eu', tier: 'gold' } });
    await create(sessions, 'b', { status: 'open', tags: ['vip'], labels: { region: 'us' } });
    await create(sessions, 'c', { status: 'closed', tags: ['new'], labels: { region: 'eu' } });
    await sessions.createSession({ ...USER, userId: 'bob', sessionId: 'd', metadata: { status: 'open' } });
    expect(await listFilteredIds(sessions, { status: 'open' })).toEqual(['a', 'b']);
    expect(await listFilteredIds(sessions, { tags: ['vip'] })).toEqual(['a', 'b']);
    expect(await listFilteredIds(sessions, { tags: ['vip', 'new', 'vip'] })).toEqual(['a']);
    expect(await listFilteredIds(sessions, { labels: { region: 'eu' } })).toEqual(['a', 'c']);
    expect(await listFilteredIds(sessions, { labels: { region: 'eu', tier: 'gold' } })).toEqual(['a']);
    expect(await listFilteredIds(sessions, { status: 'open', tags: ['vip'], labels: { region: 'us' } })).toEqual(['b']);
    expect(await listFilteredIds(sessions, { status: 'closed', tags: ['vip'] })).toEqual([]);
    const { sessions: ofApp } = await sessions.listSessions({ appName: 'shop', filter: { status: 'open' } });
    expect(ofApp.map(({ id }) => id).toSorted()).toEqual(['a', 'b', 'd']);
    expect(await listFilteredIds(sessions, {})).toEqual(['a', 'b', 'c']);
  });

  test('names may contain separators of other formats', async ({ open }) => {
    const { sessions } = await open();
    const names = ['a:b', '50%', 'a=b&c', '%41', 'A', 'é', '😀', "it's + {x}"];
    for (const [index, name] of names.entries()) {
      await create(sessions, `s${index}`, { status: name, tags: [name], labels: { [name]: name } });
    }
    for (const [index, name] of names.entries()) {
      for (const filter of [{ status: name }, { tags: [name] }, { labels: { [name]: name } }]) {
        expect([filter, await listFilteredIds(sessions, filter)]).toEqual([filter, [`s${index}`]]);
      }
    }
  });

  test('pages contain each session once, in either order and by either time', async ({ open, clock }) => {
    const { sessions } = await open();
    const ids = times(7, (index) => `s${index}`);
    for (const [index, id] of ids.entries()) {
      clock.advance(1);
      await create(sessions, id, { tags: index % 2 ? ['odd'] : ['even', 'vip'] });
    }
    for (const orderBy of ['lastUpdateTime', 'createTime'] as const) {
      for (const order of ['asc', 'desc'] as const) {
        const found: string[] = [];
        let cursor: string | undefined;
        do {
          const filter = { tags: ['vip', 'even'] };
          const page = await sessions.listSessions({ ...USER, orderBy, order, limit: 3, cursor, filter });
          found.push(...page.sessions.map(({ id }) => id));
          cursor = page.nextCursor;
        } while (cursor);
        const expected = ['s0', 's2', 's4', 's6'];
        expect(found).toEqual(order === 'asc' ? expected : expected.toReversed());
      }
    }
  });

  test('events and forks change what a filter finds, rewinds do not', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2, keepHistory: false } });
    await sessions.createSession({ ...KEY, metadata: { status: 'open' } });
    const change = { author: 'system', actions: { metadataDelta: { status: 'closed', tags: { add: ['a'] } } } };
    await appendAll(sessions, [userSays('one'), change]);
    expect(await listFilteredIds(sessions, { status: 'open' })).toEqual([]);
    await appendAll(sessions, [rewindTo(1)]);
    expect(await listFilteredIds(sessions, { status: 'closed', tags: ['a'] })).toEqual(['s-1']);
    await sessions.forkSession({ ...KEY, newSessionId: 's-2' });
    expect(await listFilteredIds(sessions, { status: 'closed', tags: ['a'] }, { orderBy: 'createTime' })).toEqual([
      's-1',
      's-2',
    ]);
    await sessions.deleteSession(KEY);
    expect(await listFilteredIds(sessions, { status: 'closed' })).toEqual(['s-2']);
    await sessions.createSession(KEY);
    expect(await listFilteredIds(sessions, { status: 'closed' })).toEqual(['s-2']);
  });

  test('a refused or repeated event does not change what a filter finds', async ({ open }) => {
    const { sessions } = await open();
    await sessions.createSession(KEY);
    const event = { id: 'once', author: 'system', actions: { metadataDelta: { status: 'open' } } };
    await sessions.appendEvent({ session: REFERENCE, event });
    const close = { author: 'system', actions: { metadataDelta: { status: 'closed' } } };
    await sessions.appendEvent({ session: REFERENCE, event: close });
    await sessions.appendEvent({ session: REFERENCE, event });
    const stale = sessions.appendEvent({ session: REFERENCE, event: { ...event, id: 'late' }, expectedVersion: 0 });
    await expectRefusal(stale, 'STALE_SESSION');
    expect(await listFilteredIds(sessions, { status: 'open' })).toEqual([]);
    expect(await listFilteredIds(sessions, { status: 'closed' })).toEqual(['s-1']);
  });

  test('a cursor belongs to its filter', async ({ open }) => {
    const { sessions } = await open();
    for (const id of ['a', 'b', 'c']) await create(sessions, id, { tags: ['x', 'y'] });
    const filter = { tags: ['x', 'y'] };
    const { nextCursor: cursor } = await sessions.listSessions({ ...USER, limit: 1, filter });
    expect(cursor).toBeDefined();
    const page = async (other?: SessionFilter) => sessions.listSessions({ ...USER, limit: 1, cursor, filter: other });
    expect((await page({ tags: ['y', 'x'] })).sessions.map(({ id }) => id)).toEqual(['b']);
    await expectRefusal(page({ tags: ['x'] }), 'INVALID_INPUT', { path: 'cursor' });
    await expectRefusal(page(), 'INVALID_INPUT', { path: 'cursor' });
    const { nextCursor: plain } = await sessions.listSessions({ ...USER, limit: 1 });
    const request = { ...USER, limit: 1, cursor: plain, filter };
    await expectRefusal(sessions.listSessions(request), 'INVALID_INPUT', { path: 'cursor' });
  });

  test('a filter with a page number is refused', async ({ open }) => {
    const { sessions } = await open();
    for (const place of [{ page: 1 }, { offset: 0 }]) {
      const request = { ...USER, ...place, filter: { status: 'open' } };
      await expectRefusal(sessions.listSessions(request), 'INVALID_INPUT', { path: 'filter' });
    }
  });

  test('a filter has at most 16 entries', async ({ open }) => {
    const { sessions } = await open();
    const tags = times(16, (index) => `t${index}`);
    expect(await listFilteredIds(sessions, { tags })).toEqual([]);
    await expectRefusal(sessions.listSessions({ ...USER, filter: { tags, status: 'open' } }), 'INVALID_INPUT', {
      path: 'filter',
    });
  });

  test('an invalid filter is refused, with its path', async ({ open }) => {
    const { sessions } = await open();
    for (const [filter, path] of INVALID) {
      const listed = sessions.listSessions({ ...USER, filter: filter as SessionFilter });
      await expectRefusal(listed, 'INVALID_INPUT', { path: `filter${path}` });
    }
  });
});
