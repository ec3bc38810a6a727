import type { WriteStateRequest } from '../../sessions/storage/session-storage.js';
import { topic } from '../contract-runner.js';
import {
  APP,
  FOREVER,
  KEY,
  type StorageFixture,
  USER,
  createTestCommit,
  creation,
  parsed,
  readSession,
  together,
  upsert,
} from './support.js';

function toUser(changes: Partial<WriteStateRequest>): WriteStateRequest {
  return { owner: USER, upserts: [], removals: [], lifetime: FOREVER.user, ...changes };
}

function toApp(changes: Partial<WriteStateRequest>): WriteStateRequest {
  return { owner: APP, upserts: [], removals: [], lifetime: FOREVER.app, ...changes };
}

export const scopes = topic<StorageFixture>('shared state', (test) => {
  test('shared state that was never written is empty, and reading it writes nothing', async ({ storage, raw }) => {
    const before = await raw();
    expect(await storage.readState(USER, FOREVER.user)).toEqual([]);
    expect(await storage.readState(APP)).toEqual([]);
    expect(await raw()).toEqual(before);
  });

  test('a write returns the new state of the scope', async ({ storage }) => {
    await storage.writeState(toUser({ upserts: [upsert('user', 'a', 1), upsert('user', 'b', 2)] }));
    const answer = await storage.writeState(
      toUser({ upserts: [upsert('user', 'c', null)], removals: [{ scope: 'user', name: 'a' }] }),
    );
    expect(parsed(answer)).toEqual({ b: 2, c: null });
    expect(parsed(await storage.readState(USER))).toEqual({ b: 2, c: null });
  });

  test('an empty write returns the current state', async ({ storage, raw }) => {
    await storage.writeState(toUser({ upserts: [upsert('user', 'a', 1)] }));
    const before = await raw();
    expect(parsed(await storage.writeState(toUser({})))).toEqual({ a: 1 });
    expect(await raw()).toEqual(before);
  });

  test('users and apps have separate state', async ({ storage }) => {
    await storage.writeState(toUser({ upserts: [upsert('user', 'k', 'ann')] }));
    await storage.writeState(
      toUser({ owner: { appName: 'shop', userId: 'Ann' }, upserts: [upsert('user', 'k', 'Ann')] }),
    );
    await storage.writeState(
      toUser({ owner: { appName: 'Shop', userId: 'ann' }, upserts: [upsert('user', 'k', 'Shop')] }),
    );
    await storage.writeState(toApp({ upserts: [upsert('app', 'k', 'app')] }));
    expect(parsed(await storage.readState(USER))).toEqual({ k: 'ann' });
    expect(parsed(await storage.readState({ appName: 'shop', userId: 'Ann' }))).toEqual({ k: 'Ann' });
    expect(parsed(await storage.readState({ appName: 'Shop', userId: 'ann' }))).toEqual({ k: 'Shop' });
    expect(parsed(await storage.readState(APP))).toEqual({ k: 'app' });
    expect(await storage.readState({ appName: 'Shop' })).toEqual([]);
  });

  test('concurrent writes of different keys lose nothing', async ({ storage }) => {
    await storage.create(creation());
    await together(10, async (index) =>
      index % 2 === 0
        ? storage.writeState(toUser({ upserts: [upsert('user', `k${index}`, index)] }))
        : storage.append(createTestCommit(`e${index}`, { upserts: [upsert('user', `k${index}`, index)] })),
    );
    const expected = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`k${index}`, index]));
    expect(parsed(await storage.readState(USER))).toEqual(expected);
  });

  test('a write of shared state changes no session record', async ({ storage, clock }) => {
    await storage.create(creation());
    const { record } = await readSession(storage);
    clock.advance(10);
    await storage.writeState(toUser({ upserts: [upsert('user', 'k', 1)] }));
    const after = await readSession(storage);
    expect(after.record).toEqual(record);
    expect(parsed(after.state.user)).toEqual({ k: 1 });
  });

  test('state without keys stores nothing', async ({ storage, raw }) => {
    await storage.create(creation({ upserts: [upsert('user', 'k', 1)] }));
    await storage.append(createTestCommit('e1', { removals: [{ scope: 'user', name: 'k' }] }));
    expect((await raw()).stateEntries).toBe(0);
    expect((await storage.read({ key: KEY, withState: true }))?.scopeExpiry?.user).toBeUndefined();
  });
});
