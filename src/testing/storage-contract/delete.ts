import { topic } from '../contract-runner.js';
import { APP, KEY, type StorageFixture, USER, createTestCommit, creation, readSession, upsert } from './support.js';

export const deletion = topic<StorageFixture>('delete', (test) => {
  test('a delete removes the events and the own state of the session', async ({ storage, raw }) => {
    await storage.create(creation({ baseState: '{"k":"base-canary"}', upserts: [upsert('session', 'k', 'canary')] }));
    await storage.append(createTestCommit('e1', { event: { payload: '"event-canary"' } }));
    await storage.delete(KEY);
    expect(await storage.read({ key: KEY, window: {} })).toBeUndefined();
    const { sessions, events, stateEntries, text } = await raw();
    expect({ sessions, events, stateEntries }).toEqual({ sessions: 0, events: 0, stateEntries: 0 });
    expect(text).not.toContain('canary');
  });

  test('user and app state stay when the session that wrote them is deleted', async ({ storage }) => {
    await storage.create(creation({ upserts: [upsert('user', 'k', 1), upsert('app', 'k', 2)] }));
    await storage.delete(KEY);
    expect(await storage.readState(USER)).toEqual([['k', '1']]);
    expect(await storage.readState(APP)).toEqual([['k', '2']]);
  });

  test('deleting a missing session does nothing', async ({ storage, raw }) => {
    await storage.create(creation());
    const before = await raw();
    await storage.delete({ ...KEY, sessionId: 'S-1' });
    await storage.delete({ ...KEY, userId: 'nobody' });
    expect(await raw()).toEqual(before);
  });

  test('a delete of an earlier session with the same id does nothing', async ({ storage }) => {
    const first = await storage.create(creation());
    await storage.delete(KEY);
    const second = await storage.create(creation());
    await storage.delete({ ...KEY, incarnation: first?.record.incarnation });
    await storage.delete({ ...KEY, incarnation: 'other' });
    expect(await readSession(storage, KEY)).toMatchObject({ record: { incarnation: second?.record.incarnation } });
    await storage.delete({ ...KEY, incarnation: second?.record.incarnation });
    expect(await storage.read({ key: KEY })).toBeUndefined();
  });

  test('a delete of a version does nothing once another event than a summary follows it', async ({ storage }) => {
    const created = await storage.create(creation());
    const incarnation = created?.record.incarnation;
    await storage.append(createTestCommit('e1'));
    await storage.delete({ ...KEY, incarnation, expectedVersion: 0 });
    await storage.delete({ ...KEY, incarnation, expectedVersion: 2 });
    expect(await readSession(storage, KEY)).toMatchObject({ record: { incarnation }, events: [{ id: 'e1' }] });
    await storage.append(createTestCommit('summary', { expiry: undefined }));
    await storage.delete({ ...KEY, incarnation: 'other', expectedVersion: 1 });
    await storage.delete({ ...KEY, incarnation, lastSeq: 1 });
    expect(await storage.read({ key: KEY })).toBeDefined();
    await storage.delete({ ...KEY, incarnation, expectedVersion: 1 });
    expect(await storage.read({ key: KEY })).toBeUndefined();

    for (const noEvents of [{ expectedVersion: 0 }, { lastSeq: 0 }]) {
      await storage.create(creation());
      await storage.delete({ ...KEY, ...noEvents });
      expect(await storage.read({ key: KEY })).toBeUndefined();
    }
  });

  test('a delete of a version, and an append that follows it, never both succeed', async ({ storage }) => {
    for (let round = 0; round < 5; round++) {
      await storage.create(creation());
      const ofNew = { ...KEY, expectedVersion: 0 };
      const [{ kind }] = await Promise.all([storage.append(createTestCommit(`e${round}`)), storage.delete(ofNew)]);
      expect((await storage.read({ key: KEY })) === undefined).toBe(kind === 'missing');
      await storage.delete(KEY);
    }
  });

  test('a delete does not remove events of other sessions', async ({ storage }) => {
    const others = [
      { ...KEY, sessionId: 's-2' },
      { ...KEY, userId: 'bob' },
      { ...KEY, appName: 'other' },
    ];
    for (const key of [KEY, ...others]) {
      await storage.create(creation({ key, upserts: [upsert('session', 'k', 1)] }));
      await storage.append(createTestCommit('e1', { key }));
    }
    await storage.delete(KEY);
    for (const key of others) {
      expect(await readSession(storage, key)).toMatchObject({
        events: [{ id: 'e1' }],
        state: { session: [['k', '1']] },
      });
    }
  });
});
