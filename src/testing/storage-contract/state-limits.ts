import type { Commit, Removal, Upsert } from '../../sessions/domain/stored/commit.js';
import { LimitExceededError } from '../../sessions/domain/errors/errors.js';
import type { StateLimits } from '../../sessions/domain/stored/state-size.js';
import { ownEntries } from '../../sessions/storage/state-entries.js';
import type { SessionStorage, StateEntries } from '../../sessions/storage/session-storage.js';
import { topic } from '../contract-runner.js';
import {
  APP,
  FOREVER,
  KEY,
  type StorageFixture,
  USER,
  createTestCommit,
  creation,
  lives,
  together,
} from './support.js';

const LIMITS: StateLimits = { session: 100, user: 60, app: 40 };
const OWNERS = { user: USER, app: APP } as const;
const PAGE = { orderBy: 'lastUpdateTime', order: 'desc', limit: 10 } as const;
const SCOPES = ['session', 'user', 'app'] as const;
const SHARED = ['user', 'app'] as const;

type Scope = (typeof SCOPES)[number];

/** A key that takes this many bytes with its value, a text of letters. */
function sized(scope: Scope, name: string, bytes: number): Upsert {
  return { scope, name, value: `"${'x'.repeat(bytes - Buffer.byteLength(name) - 2)}"` };
}

function removal(scope: Scope, name: string): Removal {
  return { scope, name };
}

function limited(id: string, changes: Partial<Commit>): Commit {
  return createTestCommit(id, { maxStateBytes: LIMITS, ...changes });
}

async function namesIn(storage: SessionStorage, scope: Scope): Promise<string[]> {
  const stored = await storage.read({ key: KEY, withState: true });
  return ownEntries(stored?.state?.[scope])
    .map(([name]) => name)
    .sort();
}

function full(scope: Scope, bytes: number): object {
  return { kind: 'stateFull', excess: { scope, bytes, most: LIMITS[scope] } };
}

async function refused(work: Promise<unknown>, text: string): Promise<void> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(LimitExceededError);
  expect((error as Error).message).toContain(text);
}

export const stateLimits = topic<StorageFixture>('limits of state', (test) => {
  for (const scope of SCOPES) {
    test(`a commit that would make the state of the ${scope} too large writes nothing`, async ({ storage, raw }) => {
      await storage.create(creation());
      const most = LIMITS[scope];
      const first = limited('e1', { upserts: [sized(scope, 'a', most - 10)] });
      expect(await storage.append(first)).toMatchObject({ kind: 'appended' });
      const before = await raw();
      expect(await storage.append(limited('e2', { upserts: [sized(scope, 'b', 11)] }))).toEqual(full(scope, most + 1));
      expect(await raw()).toEqual(before);
      expect(await storage.append(limited('e2', { upserts: [sized(scope, 'b', 10)] }))).toMatchObject({
        kind: 'appended',
      });
      expect(await namesIn(storage, scope)).toEqual(['a', 'b']);
    });

    test(`what a commit replaces and removes makes room for the state of the ${scope}`, async ({ storage }) => {
      await storage.create(creation());
      const half = LIMITS[scope] / 2;
      for (const id of ['e1', 'e2', 'e3', 'e4', 'e5', 'e6', 'e7']) {
        const upserts = [sized(scope, 'a', half)];
        expect(await storage.append(limited(id, { upserts }))).toMatchObject({ kind: 'appended' });
      }
      const exchange = { upserts: [sized(scope, 'b', 2 * half)], removals: [removal(scope, 'a')] };
      expect(await storage.append(limited('e8', exchange))).toMatchObject({ kind: 'appended' });
      expect(await storage.append(limited('e9', { upserts: [sized(scope, 'c', 4)] }))).toEqual(
        full(scope, 2 * half + 4),
      );
      const grown = limited('e9', { upserts: [sized(scope, 'b', 2 * half + 1)] });
      expect(await storage.append(grown)).toEqual(full(scope, 2 * half + 1));
      expect(await namesIn(storage, scope)).toEqual(['b']);
    });

    test(`state of the ${scope} that is too large already may become smaller`, async ({ storage }) => {
      await storage.create(creation());
      const twice = 2 * LIMITS[scope];
      await storage.append(createTestCommit('e1', { upserts: [sized(scope, 'a', twice), sized(scope, 'b', twice)] }));
      const larger = limited('e2', { upserts: [sized(scope, 'c', 4)] });
      expect(await storage.append(larger)).toEqual(full(scope, 2 * twice + 4));
      const smaller = limited('e2', { upserts: [sized(scope, 'a', twice - 1)] });
      expect(await storage.append(smaller)).toMatchObject({ kind: 'appended' });
      const removed = limited('e3', { removals: [removal(scope, 'a')] });
      expect(await storage.append(removed)).toMatchObject({ kind: 'appended' });
      const exchange = { upserts: [sized(scope, 'c', 4)], removals: [removal(scope, 'b')] };
      expect(await storage.append(limited('e4', exchange))).toMatchObject({ kind: 'appended' });
      expect(await namesIn(storage, scope)).toEqual(['c']);
    });

    test(`racing commits never make the state of the ${scope} larger than it may be`, async ({ storage }) => {
      await storage.create(creation());
      const outcomes = await together(12, (index) =>
        storage.append(limited(`e${index}`, { upserts: [sized(scope, `key ${index}`, 15)] })),
      );
      const stored = outcomes.filter(({ kind }) => kind === 'appended').length;
      expect(stored).toBe(Math.floor(LIMITS[scope] / 15));
      expect(outcomes.filter(({ kind }) => kind === 'stateFull')).toHaveLength(12 - stored);
      expect(await namesIn(storage, scope)).toHaveLength(stored);
    });

    test(`state of the ${scope} that is too large is not read`, async ({ storage }) => {
      await storage.create(creation());
      const bytes = LIMITS[scope] + 1;
      await storage.append(createTestCommit('e1', { upserts: [sized(scope, 'a', bytes)] }));
      const wanted = { key: KEY, withState: true };
      await refused(storage.read({ ...wanted, maxStateBytes: LIMITS }), `has ${bytes} bytes`);
      const parts = { withBase: true, withMetadata: true, withSharedWrites: true, checkpointAt: 1 };
      await refused(storage.read({ ...wanted, ...parts, maxStateBytes: LIMITS }), `has ${bytes} bytes`);
      await refused(storage.list({ ...USER, ...PAGE, maxStateBytes: LIMITS }), `has ${bytes} bytes`);
      await refused(storage.list({ ...APP, ...PAGE, maxStateBytes: LIMITS }), `has ${bytes} bytes`);
      expect(await storage.read({ key: KEY, maxStateBytes: LIMITS })).toBeDefined();
      const { sessions } = await storage.list({ ...USER, ...PAGE, withState: false, maxStateBytes: LIMITS });
      expect(sessions).toHaveLength(1);
      expect(await storage.read({ ...wanted, maxStateBytes: { ...LIMITS, [scope]: bytes } })).toBeDefined();
      await storage.append(limited('e2', { upserts: [sized(scope, 'a', bytes - 1)] }));
      expect(await storage.read({ ...wanted, maxStateBytes: LIMITS })).toBeDefined();
      expect((await storage.list({ ...APP, ...PAGE, maxStateBytes: LIMITS })).sessions).toHaveLength(1);
    });

    test(`a session is not created if the state of the ${scope} would be too large`, async ({ storage }) => {
      const bytes = LIMITS[scope] + 1;
      const request = creation({ upserts: [sized(scope, 'a', bytes)], maxStateBytes: LIMITS });
      await refused(storage.create(request), `would have ${bytes} bytes`);
      expect(await storage.read({ key: KEY })).toBeUndefined();
      const fitting = creation({ upserts: [sized(scope, 'a', bytes - 1)], maxStateBytes: LIMITS });
      expect(await storage.create(fitting)).toBeDefined();
      expect(await storage.append(limited('e1', { upserts: [sized(scope, 'b', 4)] }))).toEqual(full(scope, bytes + 3));
    });
  }

  for (const scope of SHARED) {
    test(`a change of the state of the ${scope} obeys the limit`, async ({ storage }) => {
      const [owner, most] = [OWNERS[scope], LIMITS[scope]];
      const write = (upserts: Upsert[], removals: Removal[] = []): Promise<StateEntries> =>
        storage.writeState({ owner, upserts, removals, lifetime: FOREVER[scope], maxStateBytes: LIMITS });
      await refused(write([sized(scope, 'a', most + 1)]), `would have ${most + 1} bytes`);
      expect(await storage.readState(owner)).toEqual([]);
      for (let round = 0; round < 3; round++) expect(await write([sized(scope, 'a', most)])).toHaveLength(1);
      await refused(write([sized(scope, 'b', 4)]), `would have ${most + 4} bytes`);
      expect(await write([sized(scope, 'b', 4)], [removal(scope, 'a')])).toHaveLength(1);
      expect(await storage.readState(owner, undefined, LIMITS)).toHaveLength(1);
    });

    test(`a change leaves state of the ${scope} that is too large smaller, but does not return it`, async ({
      storage,
    }) => {
      const [owner, most] = [OWNERS[scope], LIMITS[scope]];
      const write = { owner, removals: [], upserts: [], lifetime: FOREVER[scope] };
      await storage.writeState({ ...write, upserts: [sized(scope, 'a', most), sized(scope, 'b', most)] });
      await storage.writeState({ ...write, upserts: [sized(scope, 'c', 4)] });
      await refused(storage.readState(owner, undefined, LIMITS), `has ${2 * most + 4} bytes`);
      const shrinking = storage.writeState({ ...write, removals: [removal(scope, 'c')], maxStateBytes: LIMITS });
      await refused(shrinking, 'The change is stored.');
      expect(await storage.readState(owner)).toHaveLength(2);
      const last = { ...write, removals: [removal(scope, 'a')], maxStateBytes: LIMITS };
      expect(await storage.writeState(last)).toHaveLength(1);
    });

    test(`no session is created while the state of the ${scope} is too large`, async ({ storage, raw }) => {
      const owner = OWNERS[scope];
      const bytes = LIMITS[scope] + 1;
      const write = { owner, upserts: [], removals: [], lifetime: FOREVER[scope] };
      await storage.writeState({ ...write, upserts: [sized(scope, 'a', bytes)] });
      const before = await raw();
      const requests = [{}, { upserts: [sized(scope, 'a', 4)] }, { expiry: lives({ session: 10 }) }];
      for (const request of requests) {
        const creating = storage.create(creation({ ...request, maxStateBytes: LIMITS }));
        await refused(creating, `The state of the ${scope} "${scope === 'user' ? 'ann' : 'shop'}" has ${bytes} bytes`);
      }
      expect(await storage.read({ key: KEY })).toBeUndefined();
      expect(await raw()).toEqual(before);
      await storage.writeState({ ...write, removals: [removal(scope, 'a')] });
      expect(await storage.create(creation({ maxStateBytes: LIMITS }))).toBeDefined();
    });

    test(`state of the ${scope} that has expired does not count`, async ({ storage, clock }) => {
      const expiry = lives({ [scope]: 10 });
      await storage.create(creation({ expiry }));
      const most = LIMITS[scope];
      await storage.append(limited('e1', { upserts: [sized(scope, 'a', most)], expiry }));
      clock.advance(11_000);
      const second = limited('e2', { upserts: [sized(scope, 'b', most)], expiry });
      expect(await storage.append(second)).toMatchObject({ kind: 'appended' });
      expect(await namesIn(storage, scope)).toEqual(['b']);
    });
  }

  test('bytes are those of UTF-8, of keys without prefix and of values as JSON', async ({ storage }) => {
    await storage.create(creation());
    const upserts = [{ scope: 'session', name: 'é', value: '"😀"' } as const];
    const most = { ...LIMITS, session: 8 };
    expect(
      await storage.append(createTestCommit('e1', { upserts, maxStateBytes: { ...most, session: 7 } })),
    ).toMatchObject({
      kind: 'stateFull',
      excess: { bytes: 8 },
    });
    expect(await storage.append(createTestCommit('e1', { upserts, maxStateBytes: most }))).toMatchObject({
      kind: 'appended',
    });
    expect(await storage.read({ key: KEY, withState: true, maxStateBytes: most })).toBeDefined();
  });

  test('a commit obeys the limits of all scopes or writes to none', async ({ storage, raw }) => {
    await storage.create(creation());
    await storage.append(createTestCommit('e1', { upserts: SCOPES.map((scope) => sized(scope, 'a', 10)) }));
    const before = await raw();
    for (const scope of SCOPES) {
      const upserts = SCOPES.map((one) => sized(one, 'b', one === scope ? LIMITS[scope] : 10));
      expect(await storage.append(limited('e2', { upserts }))).toEqual(full(scope, LIMITS[scope] + 10));
    }
    expect(await raw()).toEqual(before);
  });

  test('a repeated append is recognised, even if its state would be too large', async ({ storage }) => {
    await storage.create(creation());
    const first = limited('e1', { upserts: [sized('session', 'a', 100)] });
    await storage.append(first);
    await storage.append(limited('e2', { upserts: [sized('session', 'b', 100)], removals: [removal('session', 'a')] }));
    expect(await storage.append(first)).toMatchObject({ kind: 'seen' });
  });
});
