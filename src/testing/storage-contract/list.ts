import { comparePositions, positionOf } from '../../sessions/storage/list-order.js';
import type { ListRequest, SessionStorage } from '../../sessions/storage/session-storage.js';
import { topic } from '../contract-runner.js';
import { KEY, type StorageFixture, createTestCommit, creation, lives, parsed, upsert, byKeys } from './support.js';

const BY_UPDATE: ListRequest = { appName: 'shop', orderBy: 'lastUpdateTime', order: 'desc', limit: 100 };

async function createdInTurn({ storage, clock }: StorageFixture, ids: readonly string[]): Promise<void> {
  for (const sessionId of ids) {
    clock.advance(1);
    await storage.create(creation({ key: { ...KEY, sessionId } }));
  }
}

/** Of one of two users. */
const keyOf = (sessionId: string) => ({ ...KEY, userId: sessionId < 's-2' ? 'ann' : 'bob', sessionId });

async function listRecordIds(storage: SessionStorage, request: Partial<ListRequest>): Promise<string[]> {
  const { sessions } = await storage.list({ ...BY_UPDATE, ...request });
  return sessions.map(({ record }) => record.sessionId);
}

export const list = topic<StorageFixture>('list', (test) => {
  test('sessions are listed by update or creation, in either order', async (fixture) => {
    const { storage, clock } = fixture;
    await createdInTurn(fixture, ['a', 'b', 'c']);
    clock.advance(1);
    await storage.append(createTestCommit('e1', { key: { ...KEY, sessionId: 'a' } }));
    expect(await listRecordIds(storage, {})).toEqual(['a', 'c', 'b']);
    expect(await listRecordIds(storage, { order: 'asc' })).toEqual(['b', 'c', 'a']);
    expect(await listRecordIds(storage, { orderBy: 'createTime' })).toEqual(['c', 'b', 'a']);
    expect(await listRecordIds(storage, { orderBy: 'createTime', order: 'asc' })).toEqual(['a', 'b', 'c']);
  });

  test('ties are broken by user id, then session id, byte for byte', async ({ storage }) => {
    // Beyond U+FFFF the order of UTF-8 bytes and that of UTF-16 units differ.
    const ids = ['B', 'a', 'é', '\uFF5E', '😀'];
    for (const sessionId of ids.toReversed()) {
      for (const userId of ['u2', 'u1']) {
        await storage.create(creation({ key: { ...KEY, userId, sessionId } }));
      }
    }
    expect(await listRecordIds(storage, { order: 'asc' })).toEqual([...ids, ...ids]);
    expect(await listRecordIds(storage, { order: 'desc', userId: 'u1' })).toEqual(ids.toReversed());
    const { sessions } = await storage.list({ ...BY_UPDATE, order: 'asc', limit: 6 });
    expect(sessions.map(({ record }) => record.userId)).toEqual(['u1', 'u1', 'u1', 'u1', 'u1', 'u2']);
  });

  test('a list holds the sessions of one app, or of one user', async ({ storage }) => {
    await storage.create(creation({ key: { appName: 'shop', userId: 'ann', sessionId: 's' } }));
    await storage.create(creation({ key: { appName: 'shop', userId: 'Ann', sessionId: 's' } }));
    await storage.create(creation({ key: { appName: 'Shop', userId: 'ann', sessionId: 's' } }));
    expect((await storage.list({ ...BY_UPDATE })).sessions).toHaveLength(2);
    expect((await storage.list({ ...BY_UPDATE, userId: 'ann' })).sessions).toHaveLength(1);
    expect((await storage.list({ ...BY_UPDATE, userId: 'a%' })).sessions).toEqual([]);
    expect((await storage.list({ ...BY_UPDATE, appName: '*' })).sessions).toEqual([]);
  });

  test('a listed session has its record and the state of all scopes', async ({ storage }) => {
    const upserts = [upsert('session', 'k', 1), upsert('user', 'k', 2), upsert('app', 'k', 3)];
    const created = await storage.create(creation({ upserts }));
    await storage.create(creation({ key: { ...KEY, userId: 'bob' } }));
    const { sessions } = await storage.list({ ...BY_UPDATE, order: 'asc' });
    expect(sessions[0]?.record).toEqual(created?.record);
    expect(sessions.map(({ state }) => [parsed(state.session), parsed(state.user), parsed(state.app)])).toEqual([
      [{ k: 1 }, { k: 2 }, { k: 3 }],
      [{}, {}, { k: 3 }],
    ]);
  });

  test('a list continues after a position, even if that session was deleted', async (fixture) => {
    const { storage, clock } = fixture;
    await createdInTurn(fixture, ['a', 'b', 'c', 'd']);
    const after = { time: clock.now() - 1, userId: 'ann', sessionId: 'c' };
    expect(await listRecordIds(storage, { after })).toEqual(['b', 'a']);
    expect(await listRecordIds(storage, { after, order: 'asc' })).toEqual(['d']);
    await storage.delete({ ...KEY, sessionId: 'c' });
    expect(await listRecordIds(storage, { after, limit: 1 })).toEqual(['b']);
    expect(await listRecordIds(storage, { after: { ...after, sessionId: 'cc' } })).toEqual(['b', 'a']);
  });

  test('a list can skip sessions and count them all', async (fixture) => {
    const { storage } = fixture;
    await createdInTurn(fixture, ['a', 'b', 'c']);
    const page = await storage.list({ ...BY_UPDATE, offset: 1, limit: 1, withTotal: true });
    expect(page.sessions.map(({ record }) => record.sessionId)).toEqual(['b']);
    expect(page.total).toBe(3);
    expect(await storage.list({ ...BY_UPDATE, offset: 9, withTotal: true })).toMatchObject({ sessions: [], total: 3 });
    expect(await storage.list({ ...BY_UPDATE, userId: 'nobody', withTotal: true })).toMatchObject({ total: 0 });
  });

  test('pages are in order, whether sessions were updated at once, in the same second or in the same hour', async (fixture) => {
    const { storage, clock } = fixture;
    const steps = [0, 0, 1, 30_000, 7, 61_000, 0, 3];
    const ids = Array.from({ length: 24 }, (_, index) => `s-${(index * 7) % 24}`);
    for (const [index, sessionId] of [...ids, ...ids.slice(5, 12)].entries()) {
      clock.advance(steps[index % steps.length] ?? 0);
      if (index < ids.length) await storage.create(creation({ key: keyOf(sessionId) }));
      else await storage.append(createTestCommit('e1', { key: keyOf(sessionId) }));
    }
    for (const userId of ['ann', undefined]) {
      for (const order of ['asc', 'desc'] as const) {
        const request = { ...BY_UPDATE, userId, order };
        const positions = (await storage.list({ ...request, orderBy: 'createTime' })).sessions
          .map(({ record }) => positionOf(record, request))
          .sort((a, b) => comparePositions(a, b, request));
        for (const limit of [1, 2, 5, 23]) {
          for (const [place, position] of positions.entries()) {
            const expected = positions.slice(place, place + limit).map(({ sessionId }) => sessionId);
            expect(await listRecordIds(storage, { ...request, limit, offset: place })).toEqual(expected);
            const after = positions[place - 1];
            expect(await listRecordIds(storage, { ...request, limit, after })).toEqual(expected);
            expect(expected).toContain(position.sessionId);
          }
        }
      }
    }
  });

  for (const scope of ['session', 'user'] as const) {
    test(`a limit of bytes leaves out state of the ${scope} that is not wanted`, async ({ storage }) => {
      const ids = ['s-1', 's-2', 's-3'];
      for (const sessionId of ids) {
        await storage.create(
          creation({ key: { ...KEY, sessionId }, upserts: [upsert(scope, 'long', 'x'.repeat(500))] }),
        );
      }
      const { sessions, isCut } = await storage.list({ ...BY_UPDATE, withState: false, maxBytes: 100 });
      expect([sessions.length, isCut === true]).toEqual([ids.length, false]);
    });
  }

  test('a limit of bytes ends a page early, after at least one session, and says so', async ({ storage }) => {
    const ids = Array.from({ length: 70 }, (_, index) => `s-${100 + index}`);
    const upserts = [upsert('session', 'long', 'x'.repeat(1_000))];
    for (const sessionId of ids) {
      const key = { ...KEY, sessionId, userId: sessionId < 's-135' ? 'ann' : 'bob' };
      await storage.create(creation({ key, upserts, metadata: 'title\n"t"\n' }));
    }
    for (const userId of ['ann', undefined]) {
      const all = userId === undefined ? ids : ids.slice(0, 35);
      for (const maxBytes of [1, 40_000, 1_000_000]) {
        const request: ListRequest = { ...BY_UPDATE, userId, orderBy: 'createTime', order: 'asc', maxBytes };
        const { sessions, isCut } = await storage.list(request);
        const found = sessions.map(({ record }) => record.sessionId);
        expect(found.length).toBeGreaterThan(0);
        expect(found).toEqual(all.slice(0, found.length));
        expect(isCut === true || found.length === all.length).toBe(true);
        // A store may read a few sessions before it knows their size.
        expect(found.length).toBeLessThanOrEqual(Math.max(userId === undefined ? 65 : 32, maxBytes / 1_000));
      }
    }
  });

  test('an expired session is neither listed nor counted', async ({ storage, clock }) => {
    await storage.create(creation({ expiry: lives({ session: 5 }) }));
    await storage.create(creation({ key: { ...KEY, sessionId: 's-2' } }));
    clock.advanceSeconds(5);
    const { sessions, total } = await storage.list({ ...BY_UPDATE, withTotal: true });
    expect(sessions.map(({ record }) => record.sessionId)).toEqual(['s-2']);
    expect(total).toBe(1);
  });

  test('a list has no expired shared state', async ({ storage, clock }) => {
    const upserts = [upsert('user', 'k', 1), upsert('app', 'k', 1)];
    await storage.create(creation({ upserts, expiry: lives({ user: 5, app: 5 }) }));
    clock.advanceSeconds(5);
    const [listed] = (await storage.list(BY_UPDATE)).sessions;
    expect(byKeys(listed?.state)).toEqual({ session: [], user: [], app: [] });
  });
});
