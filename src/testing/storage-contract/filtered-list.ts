import { hasEntries } from '../../sessions/domain/metadata/metadata-entries.js';
import { comparePositions, positionOf } from '../../sessions/storage/list-order.js';
import type { ListRequest, ListResult, SessionStorage } from '../../sessions/storage/session-storage.js';
import { topic } from '../contract-runner.js';
import { KEY, type StorageFixture, USER, createTestCommit, creation, lives, together } from './support.js';

const APP: ListRequest = { appName: 'shop', orderBy: 'createTime', order: 'asc', limit: 100 };
const MANY = 1_000;

const OPEN = 'status\n"open"';
const VIP = 'tag:vip\ntrue';
const EU = 'label:region\n"eu"';
const NONE = 'tag:none\ntrue';

const canary = (index: number) => `tag:canary-${index}\ntrue`;

const ORDERS = (['createTime', 'lastUpdateTime'] as const).flatMap((orderBy) =>
  (['asc', 'desc'] as const).map((order) => ({ orderBy, order })),
);

async function listFilteredRecordIds(
  storage: SessionStorage,
  entries: readonly string[],
  request: Partial<ListRequest> = {},
): Promise<string[]> {
  const { sessions } = await storage.list({ ...APP, ...request, filter: { entries, maxExamined: MANY } });
  return sessions.map(({ record }) => record.sessionId);
}

const put = async (storage: SessionStorage, sessionId: string, metadata: string, userId = 'ann') =>
  storage.create(creation({ key: { ...KEY, userId, sessionId }, metadata }));

/** Twelve sessions of two users; the third and the fifth of a group are updated once more. */
async function fill({ storage, clock }: StorageFixture): Promise<void> {
  for (let index = 0; index < 12; index++) {
    // Some have the same time, and some are minutes apart.
    if (index % 3 > 0) clock.advance(index % 4 === 1 ? 61_000 : 1);
    const lines = [
      ...(index % 2 === 0 ? [OPEN] : ['status\n"closed"']),
      ...(index % 3 === 0 ? [VIP] : []),
      ...(index % 4 === 0 ? [EU, 'title\n"A title"'] : []),
    ];
    await put(storage, `s${index}`, `${lines.join('\n')}\n`, index < 8 ? 'ann' : 'bob');
  }
  for (const index of [2, 4, 9]) {
    clock.advance(1);
    const key = { ...KEY, userId: index < 8 ? 'ann' : 'bob', sessionId: `s${index}` };
    await storage.append(createTestCommit('e1', { key }));
  }
}

/** All sessions, page by page, each of which examines few. */
async function walk(storage: SessionStorage, request: ListRequest): Promise<string[]> {
  const found: string[] = [];
  let after = request.after;
  for (let page = 0; page < 60; page++) {
    const { sessions, examinedTo }: ListResult = await storage.list({ ...request, after });
    const last = sessions.at(-1)?.record;
    found.push(...sessions.map(({ record }) => `${record.userId}/${record.sessionId}`));
    if (sessions.length > request.limit) throw new Error('The page is longer than its limit');
    if (sessions.length < request.limit && !examinedTo) return found;
    const next = examinedTo ?? (last && positionOf(last, request));
    if (!next || (after && comparePositions(next, after, request) <= 0)) throw new Error('The walk does not go on');
    after = next;
  }
  throw new Error('The walk does not end');
}

export const filteredList = topic<StorageFixture>('list with a filter', (test) => {
  test('sessions are found by status, tag and label, and by several of them', async (fixture) => {
    const { storage } = fixture;
    await fill(fixture);
    expect(await listFilteredRecordIds(storage, [OPEN])).toEqual(['s0', 's2', 's4', 's6', 's8', 's10']);
    expect(await listFilteredRecordIds(storage, [VIP])).toEqual(['s0', 's3', 's6', 's9']);
    expect(await listFilteredRecordIds(storage, [EU])).toEqual(['s0', 's4', 's8']);
    expect(await listFilteredRecordIds(storage, [OPEN, VIP])).toEqual(['s0', 's6']);
    expect(await listFilteredRecordIds(storage, [EU, OPEN, VIP])).toEqual(['s0']);
    expect(await listFilteredRecordIds(storage, [NONE])).toEqual([]);
    expect(await listFilteredRecordIds(storage, [NONE, OPEN])).toEqual([]);
    expect(await listFilteredRecordIds(storage, [OPEN], { appName: 'other' })).toEqual([]);
    expect(await listFilteredRecordIds(storage, ['title\n"A title"'.replace('title', 'status')])).toEqual([]);
  });

  test('a listed session has its record, its metadata and its state', async (fixture) => {
    const { storage } = fixture;
    await fill(fixture);
    for (const withState of [true, false]) {
      const whole = await storage.list({ ...APP, withState });
      const { sessions } = await storage.list({ ...APP, withState, filter: { entries: [EU], maxExamined: MANY } });
      expect(sessions).toEqual(whole.sessions.filter(({ metadata }) => hasEntries(metadata, [EU])));
      expect(sessions).toHaveLength(3);
    }
  });

  test('pages contain each session once and in order, with any limit of examined sessions', async (fixture) => {
    const { storage } = fixture;
    await fill(fixture);
    for (const order of ORDERS) {
      for (const owner of [{ appName: 'shop' }, USER]) {
        const request = { ...owner, ...order, limit: 100 };
        const { sessions: all } = await storage.list(request);
        for (const entries of [[OPEN], [OPEN, VIP], [EU, OPEN], [OPEN, VIP, 'status\n"closed"']]) {
          const expected = all.filter(({ metadata }) => hasEntries(metadata, entries));
          const ids = expected.map(({ record }) => `${record.userId}/${record.sessionId}`);
          for (const maxExamined of [2, MANY]) {
            expect(await walk(storage, { ...request, limit: 2, filter: { entries, maxExamined } })).toEqual(ids);
          }
        }
      }
    }
  });

  test('a session follows the changes of its metadata', async ({ storage }) => {
    await put(storage, 's-1', `${OPEN}\n${VIP}\n`);
    await storage.append(
      createTestCommit('e1', {
        metadata: [
          ['status', '"closed"'],
          ['tag:vip', null],
          ['label:region', '"eu"'],
        ],
      }),
    );
    for (const { orderBy } of ORDERS) {
      expect(await listFilteredRecordIds(storage, [OPEN], { orderBy })).toEqual([]);
      expect(await listFilteredRecordIds(storage, [VIP], { orderBy })).toEqual([]);
      expect(await listFilteredRecordIds(storage, [EU, 'status\n"closed"'], { orderBy })).toEqual(['s-1']);
    }
    await storage.append(createTestCommit('e2', { metadata: [['label:region', '"us"']] }));
    expect(await listFilteredRecordIds(storage, [EU])).toEqual([]);
    await storage.append(
      createTestCommit('e3', { metadata: [['tag:vip', 'true']], preconditions: { expectedVersion: 0 } }),
    );
    expect(await listFilteredRecordIds(storage, [VIP])).toEqual([]);
  });

  test('entries are compared byte for byte', async ({ storage }) => {
    const entries = [
      ...['a', 'A', 'é', 'e\u0301', 'a:b', 'a%', '*', '😀', '{x}'].map((tag) => `tag:${tag}\ntrue`),
      'label:a\n"b:c"',
      'label:a:b\n"c"',
      'label:b\n"\\"\\\\"',
      `status\n"${'é'.repeat(95)}"`,
      `label:${'x'.repeat(191)}\n"${'\\"'.repeat(191)}"`,
    ];
    await Promise.all(entries.map(async (entry, index) => put(storage, `s${index}`, `${entry}\n`)));
    const found = await Promise.all(entries.map(async (entry) => listFilteredRecordIds(storage, [entry], USER)));
    expect(found).toEqual(entries.map((_, index) => [`s${index}`]));
  });

  test('expired sessions are not listed, and hide no others', async ({ storage, clock }) => {
    for (const [index, session] of [10, 0, 10, 10, 0].entries()) {
      const key = { ...KEY, sessionId: `s${index}` };
      await storage.create(creation({ key, metadata: `${OPEN}\n`, expiry: lives({ session }) }));
    }
    clock.advanceSeconds(10);
    for (const order of ORDERS) {
      const filter = { entries: [OPEN], maxExamined: 2 };
      const ids = order.order === 'asc' ? ['ann/s1', 'ann/s4'] : ['ann/s4', 'ann/s1'];
      expect(await walk(storage, { appName: 'shop', ...order, limit: 2, filter })).toEqual(ids);
    }
  });

  test('after concurrent changes, the index agrees with the metadata', async ({ storage }) => {
    await put(storage, 's-1', '');
    await put(storage, 's-2', `${OPEN}\n`);
    const statuses = Array.from({ length: 8 }, (_, index) => `"${index % 4}"`);
    await together(8, async (index) =>
      storage.append(
        createTestCommit(`e${index}`, {
          metadata: [
            ['status', statuses[index] ?? ''],
            [`tag:${index % 2}`, index % 3 ? 'true' : null],
          ],
        }),
      ),
    );
    const [session] = (await storage.list({ ...APP, ...USER, limit: 1 })).sessions;
    const all = [...statuses.map((status) => `status\n${status}`), 'tag:0\ntrue', 'tag:1\ntrue'];
    for (const entry of new Set(all)) {
      expect(await listFilteredRecordIds(storage, [entry])).toEqual(
        hasEntries(session?.metadata ?? '', [entry]) ? ['s-1'] : [],
      );
    }
  });

  test('a deleted session is not found, nor an earlier one with the same id', async ({ storage, clock, raw }) => {
    await put(storage, 'changed', `${canary(0)}\n`);
    await put(storage, 'deleted', `${canary(1)}\n`);
    for (const [index, sessionId] of ['replaced', 'purged'].entries()) {
      const expiry = lives({ session: 10 });
      await storage.create(creation({ key: { ...KEY, sessionId }, metadata: `${canary(2 + index)}\n`, expiry }));
    }
    await storage.append(
      createTestCommit('e1', { key: { ...KEY, sessionId: 'changed' }, metadata: [['tag:canary-0', null]] }),
    );
    await storage.delete({ ...KEY, sessionId: 'deleted' });
    clock.advanceSeconds(10);
    await put(storage, 'replaced', `${VIP}\n`);
    for (const index of [0, 1, 2, 3]) expect(await listFilteredRecordIds(storage, [canary(index)])).toEqual([]);
    expect(await listFilteredRecordIds(storage, [VIP])).toEqual(['replaced']);
    await storage.purgeExpired(10);
    expect((await raw()).text).not.toContain('canary');
  });
});
