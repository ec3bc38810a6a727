import { NEVER } from '../../sessions/domain/values/expiry.js';
import { topic } from '../contract-runner.js';
import {
  APP,
  KEY,
  type StorageFixture,
  USER,
  createTestCommit,
  creation,
  lives,
  readSession,
  upsert,
} from './support.js';

const SHARED = [upsert('user', 'k', 1), upsert('app', 'k', 1)];

export const expiry = topic<StorageFixture>('expiry', (test) => {
  test('a session is missing from the moment it expires', async ({ storage, clock }) => {
    await storage.create(creation({ expiry: lives({ session: 10 }) }));
    clock.advance(9_999);
    expect((await readSession(storage)).record.expiresAt).toBe(clock.now() + 1);
    clock.advance(1);
    expect(await storage.read({ key: KEY, window: {} })).toBeUndefined();
  });

  test('a session without a lifetime never expires', async ({ storage, clock }) => {
    await storage.create(creation());
    clock.advance(1e14);
    expect((await readSession(storage)).record.expiresAt).toBe(NEVER);
  });

  test('a commit renews the whole lifetime of the session', async ({ storage, clock }) => {
    await storage.create(creation({ expiry: lives({ session: 10 }) }));
    clock.advanceSeconds(1);
    await storage.append(createTestCommit('e1', { expiry: lives({ session: 20 }) }));
    expect((await readSession(storage)).record.expiresAt).toBe(clock.now() + 20_000);
  });

  test('user and app state expire separately', async ({ storage, clock }) => {
    await storage.create(creation({ upserts: SHARED, expiry: lives({ session: 100, user: 10, app: 20 }) }));
    const start = clock.now();
    expect((await readSession(storage)).scopeExpiry).toEqual({ user: start + 10_000, app: start + 20_000 });
    clock.advanceSeconds(10);
    expect((await readSession(storage)).state).toMatchObject({ user: [], app: [['k', '1']] });
    expect(await storage.readState(USER)).toEqual([]);
    clock.advanceSeconds(10);
    expect((await readSession(storage)).state).toMatchObject({ user: [], app: [] });
    expect(await storage.readState(APP)).toEqual([]);
  });

  test('a new key does not restore expired state', async ({ storage, clock }) => {
    const life = lives({ user: 10, app: 10 });
    await storage.create(creation({ upserts: SHARED, expiry: life }));
    clock.advanceSeconds(10);
    await storage.append(createTestCommit('e1', { upserts: [upsert('user', 'new', 1)], expiry: life }));
    expect(await storage.readState(USER)).toEqual([['new', '1']]);
    const written = await storage.writeState({
      owner: APP,
      upserts: [upsert('app', 'new', 1)],
      removals: [],
      lifetime: life.app,
    });
    expect(written).toEqual([['new', '1']]);
  });

  test('a commit renews shared state that it writes, and other shared state after a tenth of its lifetime', async (fixture) => {
    const { storage, clock } = fixture;
    const life = lives({ user: 100, app: 100 });
    await storage.create(creation({ upserts: SHARED, expiry: life }));
    const start = clock.now();
    clock.advanceSeconds(5);
    await storage.append(createTestCommit('e1', { upserts: [upsert('user', 'k', 2)], expiry: life }));
    expect((await readSession(storage)).scopeExpiry).toEqual({ user: start + 105_000, app: start + 100_000 });
    clock.advanceSeconds(6);
    await storage.append(createTestCommit('e2', { expiry: life }));
    expect((await readSession(storage)).scopeExpiry).toEqual({ user: start + 105_000, app: start + 111_000 });
  });

  test('a touch renews the given lifetimes', async ({ storage, clock }) => {
    const life = lives({ session: 100, user: 100, app: 100 });
    await storage.create(creation({ upserts: SHARED, expiry: life }));
    const start = clock.now();
    const { incarnation } = (await readSession(storage)).record;
    clock.advanceSeconds(1);
    await storage.touch({ key: KEY, incarnation, renew: { session: life.session } });
    await storage.touch({ key: KEY, incarnation, renew: { app: life.app } });
    const { record, scopeExpiry } = await readSession(storage);
    expect(record).toMatchObject({ expiresAt: start + 101_000, lastUpdateTime: start, lastSeq: 0 });
    expect(scopeExpiry).toEqual({ user: start + 100_000, app: start + 101_000 });
  });

  test('a touch does not restore expired data, and renews no other incarnation', async ({ storage, clock }) => {
    const life = lives({ session: 10, user: 10, app: 10 });
    await storage.create(creation({ upserts: SHARED, expiry: life }));
    const { incarnation } = (await readSession(storage)).record;
    clock.advanceSeconds(10);
    await storage.touch({ key: KEY, incarnation, renew: life });
    expect(await storage.read({ key: KEY })).toBeUndefined();
    expect(await storage.readState(USER)).toEqual([]);
    await storage.create(creation({ expiry: life }));
    await storage.touch({ key: KEY, incarnation, renew: lives({ session: 999 }) });
    expect((await readSession(storage)).record.expiresAt).toBe(clock.now() + 10_000);
  });

  test('a read of shared state renews it after a tenth of its lifetime', async ({ storage, clock, raw }) => {
    const { user: lifetime } = lives({ user: 100 });
    await storage.create(creation());
    await storage.writeState({ owner: USER, upserts: [upsert('user', 'k', 1)], removals: [], lifetime });
    const written = clock.now();
    const before = await raw();
    clock.advanceSeconds(10);
    await storage.readState(USER, lifetime);
    expect(await raw()).toEqual(before);
    clock.advance(1);
    await storage.readState(USER);
    expect((await readSession(storage)).scopeExpiry).toEqual({ user: written + 100_000 });
    await storage.readState(USER, lifetime);
    expect((await readSession(storage)).scopeExpiry).toEqual({ user: clock.now() + 100_000 });
  });
});
