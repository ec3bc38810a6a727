import { ownEntries } from '../../sessions/storage/state-entries.js';
import type { OwnState } from '../../sessions/storage/session-storage.js';
import { topic } from '../contract-runner.js';
import {
  KEY,
  type StorageFixture,
  createTestCommit,
  creation,
  parsed,
  readSession,
  together,
  upsert,
} from './support.js';

/** A store may keep a small state in another way than a large one. */
const MANY = Array.from({ length: 40 }, (_, index) => `key-${index}`);
const VALUE = 'é'.repeat(40);

/** A store may format JSON in its own way. */
function parseStateValues(state: OwnState | undefined): Map<string, unknown> {
  return new Map(ownEntries(state).map(([name, value]) => [name, JSON.parse(value)]));
}

export const ownState = topic<StorageFixture>("a session's own state", (test) => {
  test('grows from small to large, and back, without losing a key', async ({ storage }) => {
    await storage.create(creation({ upserts: [upsert('session', 'first', 1)] }));
    const expected: Record<string, unknown> = { first: 1 };
    for (const name of MANY) {
      expected[name] = VALUE;
      await storage.append(createTestCommit(name, { upserts: [upsert('session', name, VALUE)] }));
    }
    expect(parsed((await readSession(storage)).state.session)).toEqual(expected);
    const removals = MANY.slice(1).map((name) => ({ scope: 'session' as const, name }));
    await storage.append(createTestCommit('less', { removals, upserts: [upsert('session', 'first', 2)] }));
    expect(parsed((await readSession(storage)).state.session)).toEqual({ first: 2, 'key-0': VALUE });
    const { sessions } = await storage.list({ ...KEY, orderBy: 'lastUpdateTime', order: 'desc', limit: 10 });
    expect(sessions.map(({ state }) => parsed(state.session))).toEqual([{ first: 2, 'key-0': VALUE }]);
  });

  test('keeps every key that concurrent commits set, while it becomes large', async ({ storage }) => {
    await storage.create(creation());
    await together(MANY.length, async (index) =>
      storage.append(createTestCommit(`e${index}`, { upserts: [upsert('session', MANY[index] ?? '', VALUE)] })),
    );
    const { state } = await readSession(storage);
    expect(parsed(state.session)).toEqual(Object.fromEntries(MANY.map((name) => [name, VALUE])));
  });

  test('keeps any name and value', async ({ storage }) => {
    const entries = [
      ['"', '"\\""'],
      ['a":1,\n"b', '{"a":[1,\n2]}'],
      ['\\', '"\\\\"'],
      ['__proto__', '{}'],
      ['1', '1'],
      ['\u2028', '"\u2028"'],
    ] as const;
    for (const [place, entry] of entries.entries()) {
      const [name, value] = entry;
      const key = { ...KEY, sessionId: `text-${place}` };
      await storage.create(creation({ key, upserts: [upsert('session', 'k', 1)] }));
      await storage.append({ ...createTestCommit('e1'), key, upserts: [{ scope: 'session', name, value }] });
      const read = await storage.read({ key, withState: true });
      expect(parseStateValues(read?.state?.session)).toEqual(parseStateValues([['k', '1'], entry]));
    }
    const upserts = entries.map(([name, value]) => ({ scope: 'session' as const, name, value }));
    await storage.create(creation({ upserts }));
    const read = await storage.read({ key: KEY, withState: true });
    expect(parseStateValues(read?.state?.session)).toEqual(parseStateValues(entries));
  });
});
