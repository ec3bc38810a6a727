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

export const purge = topic<StorageFixture>('purge', (test) => {
  test('a purge removes expired data, and returns the counts', async ({ storage, clock, raw }) => {
    const life = lives({ session: 10, user: 10, app: 10 });
    const upserts = [upsert('session', 'k', 1), upsert('user', 'k', 1), upsert('app', 'k', 1)];
    await storage.create(creation({ upserts, expiry: life }));
    await storage.append(createTestCommit('e1', { expiry: life, event: { payload: '"canary"' } }));
    clock.advanceSeconds(10);
    expect(await storage.purgeExpired(10)).toEqual({ sessions: 1, userStates: 1, appStates: 1 });
    const { text, ...counts } = await raw();
    expect(counts).toEqual({ sessions: 0, events: 0, stateEntries: 0 });
    expect(text).not.toContain('canary');
    expect(await storage.purgeExpired(10)).toEqual({ sessions: 0, userStates: 0, appStates: 0 });
  });

  test('a purge removes only expired data', async ({ storage, clock }) => {
    const life = lives({ session: 10 });
    await storage.create(creation({ expiry: life }));
    await storage.create(
      creation({
        key: { ...KEY, sessionId: 's-2' },
        upserts: [upsert('session', 'k', 1), upsert('user', 'k', 1), upsert('app', 'k', 1)],
        expiry: lives({ session: 20 }),
      }),
    );
    await storage.append(createTestCommit('e1', { key: { ...KEY, sessionId: 's-2' }, expiry: lives({ session: 20 }) }));
    clock.advanceSeconds(10);
    expect(await storage.purgeExpired(10)).toEqual({ sessions: 1, userStates: 0, appStates: 0 });
    const left = await readSession(storage, { ...KEY, sessionId: 's-2' });
    expect(left).toMatchObject({ events: [{ id: 'e1' }], state: { session: [['k', '1']] } });
    expect(await storage.readState(USER)).toEqual([['k', '1']]);
    expect(await storage.readState(APP)).toEqual([['k', '1']]);
  });

  test('a purge removes at most `limit` items of each kind', async ({ storage, clock }) => {
    for (let index = 0; index < 5; index++) {
      const key = { appName: `app${index}`, userId: 'u', sessionId: 's' };
      const upserts = [upsert('user', 'k', 1), upsert('app', 'k', 1)];
      await storage.create(creation({ key, upserts, expiry: lives({ session: 10, user: 10, app: 10 }) }));
    }
    clock.advanceSeconds(10);
    expect(await storage.purgeExpired(2)).toEqual({ sessions: 2, userStates: 2, appStates: 2 });
    expect(await storage.purgeExpired(2)).toEqual({ sessions: 2, userStates: 2, appStates: 2 });
    expect(await storage.purgeExpired(2)).toEqual({ sessions: 1, userStates: 1, appStates: 1 });
  });

  test('data of a new incarnation is not purged with the old one', async ({ storage, clock }) => {
    await storage.create(creation({ expiry: lives({ session: 10 }) }));
    await storage.append(createTestCommit('old', { expiry: lives({ session: 10 }) }));
    clock.advanceSeconds(10);
    await storage.create(creation({ upserts: [upsert('session', 'k', 1)] }));
    await storage.append(createTestCommit('new'));
    await storage.purgeExpired(10);
    expect(await readSession(storage)).toMatchObject({ events: [{ id: 'new' }], state: { session: [['k', '1']] } });
  });
});
