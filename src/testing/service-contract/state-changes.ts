import type { StateKeyChange, StateOperation } from '../../sessions/domain/history/state-history.js';
import type { WatchedEvent } from '../../sessions/operations/state-history.js';
import type { SessionClient } from '../open-sessions.js';
import { topic } from '../contract-runner.js';
import {
  KEY,
  REFERENCE,
  type ServiceFixture,
  appendAll,
  changing,
  expectRefusal,
  load,
  sessionWith,
  createSummaryEvent,
  times,
  userSays,
} from './support.js';

type Page = Parameters<SessionClient['stateChanges']>[0];

async function changes(sessions: SessionClient, how: Partial<Page> = {}): Promise<StateKeyChange[]> {
  return (await sessions.stateChanges({ ...KEY, ...how })).changes;
}

/** Walks over all pages. */
async function pages(sessions: SessionClient, how: Partial<Page>): Promise<StateKeyChange[][]> {
  const found: StateKeyChange[][] = [];
  let cursor: string | undefined;
  do {
    const page = await sessions.stateChanges({ ...KEY, ...how, cursor });
    found.push(page.changes);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found;
}

/** Applies operations to the members of an object, as RFC 6902 asks: replacing and removing need a member. */
function patched(state: Record<string, unknown>, operations: readonly StateOperation[]): Record<string, unknown> {
  const members = new Map(Object.entries(state));
  for (const operation of operations) {
    const key = operation.path.slice(1).replaceAll('~1', '/').replaceAll('~0', '~');
    if (operation.op !== 'add') expect([operation, members.has(key)]).toEqual([operation, true]);
    if (operation.op === 'remove') members.delete(key);
    else members.set(key, operation.value);
  }
  return Object.fromEntries(members);
}

export const stateChanges = topic<ServiceFixture>('stateChanges', (test) => {
  test('each change has its event, its key, and the values before and after', async ({ open }) => {
    const { sessions } = await open();
    await sessions.createSession({ ...KEY, state: { a: null, b: 1 } });
    await appendAll(sessions, [
      changing('e1', { a: { deep: [] }, c: null }, 'b', 'missing'),
      userSays('nothing'),
      changing('e3', { a: { deep: [] }, b: 2 }, 'c'),
    ]);
    expect(await sessions.stateChanges(KEY)).toEqual({
      firstSeq: 1,
      lastSeq: 3,
      changes: [
        { seq: 1, eventId: 'e1', key: 'a', scope: 'session', before: null, after: { deep: [] } },
        { seq: 1, eventId: 'e1', key: 'c', scope: 'session', after: null },
        { seq: 1, eventId: 'e1', key: 'b', scope: 'session', before: 1 },
        { seq: 3, eventId: 'e3', key: 'b', scope: 'session', after: 2 },
        { seq: 3, eventId: 'e3', key: 'c', scope: 'session', before: null },
      ],
    });
  });

  test('a rewind lists what it restores', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [changing('e1', { a: 1 }), changing('e2', { a: 2, b: 1 }), createSummaryEvent(1, 1)]);
    await sessions.rewindSession({ ...KEY, toSeq: 1 });
    expect(await changes(sessions, { afterSeq: 2 })).toMatchObject([
      { seq: 4, key: 'a', before: 2, after: 1 },
      { seq: 4, key: 'b', before: 1 },
    ]);
  });

  test('shared scopes list every write of this session', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [changing('e1', { 'user:u': 1 })]);
    await sessions.updateUserState({ ...KEY, stateDelta: { u: 2 } });
    await appendAll(sessions, [
      changing('e2', { 'user:u': 1, 'app:~a/b': null }),
      changing('e3', {}, 'user:u', 'app:x'),
    ]);
    const [scope, eventId] = ['user', 'e3'];
    expect(await changes(sessions)).toEqual([
      { seq: 1, eventId: 'e1', key: 'user:u', scope, after: 1 },
      { seq: 2, eventId: 'e2', key: 'user:u', scope, before: 1, after: 1 },
      { seq: 2, eventId: 'e2', key: 'app:~a/b', scope: 'app', after: null },
      { seq: 3, eventId, key: 'user:u', scope, before: 1 },
      { seq: 3, eventId, key: 'app:x', scope: 'app' },
    ]);
    expect((await changes(sessions, { key: 'user:u', afterSeq: 1 })).map(({ seq }) => seq)).toEqual([2, 3]);
  });

  test('pages contain each change once, also if a page ends inside an event', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [
      changing('e1', { a: 1, b: 1, c: 1 }),
      changing('e2', { a: 2 }),
      changing('e3', { b: 2, d: 1 }),
    ]);
    const all = await changes(sessions);
    expect(all).toHaveLength(6);
    for (const limit of [1, 2, 4, 6]) {
      const found = await pages(sessions, { limit });
      expect(found.flat()).toEqual(all);
      expect(found).toHaveLength(Math.ceil(6 / limit));
    }
    expect((await pages(sessions, { limit: 1, key: 'b' })).flat()).toEqual(all.filter(({ key }) => key === 'b'));
    expect(await sessions.stateChanges({ ...KEY, limit: 0 })).toEqual({ changes: [], firstSeq: 1, lastSeq: 3 });
    expect(await changes(sessions, { afterSeq: 3 })).toEqual([]);
    expect(await changes(sessions, { afterSeq: 2 })).toEqual(all.slice(4));
  });

  test('pages are limited in bytes, but have at least one change', async ({ open }) => {
    const { sessions } = await open({ limits: { maxPageBytes: 3_000 } });
    await sessionWith(
      sessions,
      times(4, (index) => changing(`e${index}`, { big: `${index}`.repeat(1_200) })),
    );
    expect((await pages(sessions, {})).map((page) => page.length)).toEqual([1, 1, 1, 1]);
  });

  test('a page reads a limited part of the log', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [changing('e1', { rare: 1 })]);
    const nothing = times(100, () => ({ author: 'agent' }));
    for (const events of times(11, () => nothing)) await sessions.appendEvents({ session: REFERENCE, events });
    await appendAll(sessions, [changing('last', { rare: 2 })]);
    const found = await pages(sessions, { key: 'rare', afterSeq: 1 });
    expect(found).toMatchObject([[], [{ seq: 1_102, before: 1, after: 2 }]]);
  });

  test('a cursor of another session, and other requests, are refused', async ({ open }) => {
    const { sessions } = await open();
    await expectRefusal(sessions.stateChanges(KEY), 'SESSION_NOT_FOUND');
    await sessionWith(sessions, [changing('e1', { a: 1 }), changing('e2', { a: 2 })]);
    const { nextCursor: cursor } = await sessions.stateChanges({ ...KEY, limit: 1 });
    await sessions.deleteSession(KEY);
    await sessionWith(sessions, [changing('e1', { a: 1 })]);
    await expectRefusal(sessions.stateChanges({ ...KEY, cursor }), 'SESSION_NOT_FOUND');
    const { nextCursor: ofEvents } = await sessions.listEvents({ ...KEY, limit: 1 });
    for (const wrong of [
      { cursor: 'x' },
      { cursor: ofEvents ?? 'W10' },
      { limit: 1_001 },
      { key: '' },
      { key: 'temp:t' },
    ]) {
      await expectRefusal(sessions.stateChanges({ ...KEY, ...wrong }), 'INVALID_INPUT');
    }
  });
});

export const stateDeltas = topic<ServiceFixture>('watch with stateDeltas', (test) => {
  test('the operations turn each state into the next one', async ({ open }) => {
    const { sessions } = await open({ watchPollMs: 10 });
    await sessions.createSession({ ...KEY, state: { a: 1, 'x/y~z': 1, gone: 1, 'user:u': 1 } });
    let state = (await load(sessions)).state.toRecord();
    const watch = sessions.watch({ ...KEY, afterSeq: 0, stateDeltas: true });
    await appendAll(sessions, [
      changing('e1', { a: 2, 'x/y~z': null, b: [], 'temp:t': 1 }, 'gone', 'missing'),
      userSays('nothing'),
      changing('e3', { 'user:u': 2, 'user:v': 1, gone: 2 }, 'b', 'app:missing'),
    ]);
    await sessions.rewindSession({ ...KEY, toSeq: 1 });
    const seen: WatchedEvent[] = [];
    for await (const event of watch) {
      seen.push(event);
      state = patched(state, event.statePatch ?? []);
      if (event.seq < 4) expect(ownOf(state)).toEqual((await sessions.stateAt({ ...KEY, seq: event.seq })).state);
      else break;
    }
    expect(state).toEqual((await load(sessions)).state.toRecord());
    expect(seen[1]?.statePatch).toEqual([]);
    expect(seen[0]?.statePatch).toEqual([
      { op: 'replace', path: '/a', value: 2 },
      { op: 'replace', path: '/x~1y~0z', value: null },
      { op: 'add', path: '/b', value: [] },
      { op: 'remove', path: '/gone' },
    ]);
  });

  test('without the option, events have no patch and are otherwise the same', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [changing('e1', { a: 1 })]);
    const [plain, patches] = [{}, { stateDeltas: true }].map((how) => sessions.watch({ ...KEY, afterSeq: 0, ...how }));
    const one = await plain?.next();
    const other = await patches?.next();
    expect({ ...one?.value, statePatch: [{ op: 'add', path: '/a', value: 1 }] }).toEqual(other?.value);
    expect(one?.value && 'statePatch' in one.value).toBe(false);
    await Promise.all([plain?.return?.(), patches?.return?.()]);
  });
});

function ownOf(state: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(state).filter(([key]) => !/^(user|app):/.test(key)));
}
