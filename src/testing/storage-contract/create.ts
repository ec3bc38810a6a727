import { NO_COUNTS } from '../../sessions/domain/stored/counters.js';
import { NEVER } from '../../sessions/domain/values/expiry.js';
import { NO_TURN } from '../../sessions/domain/stored/turn.js';
import { NO_MARKS } from '../../sessions/domain/stored/view-marks.js';
import { topic } from '../contract-runner.js';
import {
  APP,
  FOREVER,
  KEY,
  type StorageFixture,
  createTestCommit,
  creation,
  lives,
  parsed,
  readSession,
  together,
  upsert,
  byKeys,
} from './support.js';

export const create = topic<StorageFixture>('create', (test) => {
  test('a created session is empty and has the current time', async ({ storage, clock }) => {
    const created = await storage.create(creation());
    const now = clock.now();
    expect(created).toMatchObject({ now, events: [] });
    expect(byKeys(created?.state)).toEqual({ session: [], user: [], app: [] });
    expect(created?.record).toEqual({
      ...KEY,
      incarnation: expect.any(String) as string,
      createTime: now,
      lastUpdateTime: now,
      expiresAt: NEVER,
      firstSeq: 1,
      lastSeq: 0,
      tipSeq: 0,
      highWater: 0,
      counters: NO_COUNTS,
      marks: NO_MARKS,
      marksSeq: 0,
      turn: NO_TURN,
      turnsOnly: false,
      stateBytes: expect.any(Number) as number,
      usage: [],
      dispatchedSeq: 0,
      waitingSince: 0,
    });
    expect((await readSession(storage)).record).toEqual(created?.record);
  });

  test('initial state is stored by scope, and returned with the existing shared state', async ({ storage }) => {
    await storage.writeState({
      owner: APP,
      upserts: [upsert('app', 'tone', 'kind')],
      removals: [],
      lifetime: FOREVER.app,
    });
    const upserts = [upsert('session', 'k', 1), upsert('user', 'k', 2), upsert('app', 'k', 3)];
    const created = await storage.create(creation({ upserts }));
    expect(parsed(created?.state?.session)).toEqual({ k: 1 });
    expect(parsed(created?.state?.user)).toEqual({ k: 2 });
    expect(parsed(created?.state?.app)).toEqual({ k: 3, tone: 'kind' });
    expect(await storage.readState({ appName: 'shop', userId: 'ann' })).toEqual([['k', '2']]);
  });

  test('the base state is returned as the same text', async ({ storage }) => {
    const baseState = '{"b":1,"a":[],"__proto__":{"x":"\\u0000"}}';
    await storage.create(creation({ baseState }));
    expect((await readSession(storage)).baseState).toBe(baseState);
  });

  test('a create over a live session returns undefined and changes nothing', async ({ storage, raw }) => {
    await storage.create(creation({ upserts: [upsert('session', 'k', 1)] }));
    await storage.append(createTestCommit('e1'));
    const before = await raw();
    const again = creation({ baseState: '{"k":2}', upserts: [upsert('session', 'k', 2), upsert('user', 'k', 2)] });
    expect(await storage.create(again)).toBeUndefined();
    expect(await raw()).toEqual(before);
  });

  test('of concurrent creates one succeeds, and its state is stored', async ({ storage, raw }) => {
    const answers = await together(8, async (index) =>
      storage.create(creation({ baseState: `{"k":${index}}`, upserts: [upsert('session', 'k', index)] })),
    );
    const winners = answers.filter((answer) => answer !== undefined);
    expect(winners).toHaveLength(1);
    const winner = answers.findIndex((answer) => answer !== undefined);
    const stored = await readSession(storage);
    expect(parsed(stored.state.session)).toEqual({ k: winner });
    expect(stored.baseState).toBe(`{"k":${winner}}`);
    expect((await raw()).sessions).toBe(1);
  });

  test('an expired session is replaced completely', async ({ storage, clock }) => {
    const first = await storage.create(
      creation({ expiry: lives({ session: 10 }), baseState: '{"k":1}', upserts: [upsert('session', 'k', 1)] }),
    );
    await storage.append(
      createTestCommit('e1', { expiry: lives({ session: 10 }), counterIncrements: { ...NO_COUNTS, turns: 3 } }),
    );
    clock.advanceSeconds(10);
    const second = await storage.create(creation());
    expect(second?.record).toMatchObject({ lastSeq: 0, counters: NO_COUNTS, createTime: clock.now() });
    expect(second?.record.incarnation).not.toBe(first?.record.incarnation);
    expect(parsed(second?.state?.session)).toEqual({});
    expect(await readSession(storage)).toMatchObject({ events: [], baseState: '{}' });
    expect(await storage.append(createTestCommit('e1'))).toMatchObject({ kind: 'appended', record: { lastSeq: 1 } });
  });

  test('a session created after a delete is another incarnation', async ({ storage }) => {
    const first = await storage.create(creation());
    await storage.delete(KEY);
    const second = await storage.create(creation());
    expect(second?.record.incarnation).not.toBe(first?.record.incarnation);
  });

  test('keys are compared byte for byte', async ({ storage, raw }) => {
    const ids = ['A', 'a', 'é', 'e\u0301', 'a:b', 'a/b', 'a%2Fb', 'a b', '{a}', '*', "';--", '../a', '😀', 'ß', 'ss'];
    for (const id of ids) {
      for (const key of [
        { ...KEY, sessionId: id },
        { ...KEY, userId: id },
        { ...KEY, appName: id },
      ]) {
        expect((await storage.create(creation({ key, baseState: JSON.stringify(key) })))?.record).toMatchObject(key);
      }
    }
    expect((await raw()).sessions).toBe(ids.length * 3);
    for (const id of ids) {
      const key = { ...KEY, userId: id };
      expect((await readSession(storage, key)).baseState).toBe(JSON.stringify(key));
    }
  });

  test('parts of a key are not concatenated ambiguously', async ({ storage, raw }) => {
    const keys = [
      { appName: 'a', userId: 'b:c', sessionId: 'd' },
      { appName: 'a:b', userId: 'c', sessionId: 'd' },
      { appName: 'a', userId: 'b', sessionId: 'c:d' },
      { appName: 'a/b', userId: 'c', sessionId: 'd' },
      { appName: 'a', userId: 'b/c', sessionId: 'd' },
    ];
    for (const key of keys) expect((await storage.create(creation({ key })))?.record).toMatchObject(key);
    expect((await raw()).sessions).toBe(keys.length);
  });

  test('ids of the maximum length are stored completely', async ({ storage }) => {
    const long = '😀'.repeat(47) + 'abc';
    const twin = '😀'.repeat(47) + 'abd';
    const key = { appName: long, userId: long, sessionId: long };
    await storage.create(creation({ key }));
    expect(await storage.create(creation({ key: { ...key, sessionId: twin } }))).toBeDefined();
    await storage.append(createTestCommit(long, { key }));
    expect(await storage.append(createTestCommit(twin, { key }))).toMatchObject({ kind: 'appended' });
    expect((await readSession(storage, key)).events.map(({ id }) => id)).toEqual([long, twin]);
  });
});
