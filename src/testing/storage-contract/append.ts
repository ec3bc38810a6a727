import { topic } from '../contract-runner.js';
import { ownEntries } from '../../sessions/storage/state-entries.js';
import {
  APP,
  KEY,
  type StorageFixture,
  USER,
  createTestCommit,
  creation,
  lives,
  parsed,
  readSession,
  sessionWithEvents,
  together,
  upsert,
  countersFrom,
} from './support.js';
import { NO_COUNTS, countersWith } from '../../sessions/domain/stored/counters.js';

export const append = topic<StorageFixture>('append', (test) => {
  test('events are numbered 1, 2, 3 without gaps', async ({ storage }) => {
    await sessionWithEvents(storage, 3);
    const { events, record } = await readSession(storage);
    expect(events.map(({ seq, id }) => [seq, id])).toEqual([
      [1, 'e1'],
      [2, 'e2'],
      [3, 'e3'],
    ]);
    expect(record).toMatchObject({ firstSeq: 1, lastSeq: 3, tipSeq: 3 });
  });

  test('concurrent appends all succeed, without gaps or duplicates', async ({ storage }) => {
    await storage.create(creation());
    const outcomes = await together(20, async (index) => storage.append(createTestCommit(`e${index}`)));
    expect(outcomes.map(({ kind }) => kind)).toEqual(Array.from({ length: 20 }, () => 'appended'));
    const { events } = await readSession(storage);
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(new Set(events.map(({ id }) => id)).size).toBe(20);
  });

  test('the outcome has the record after the commit', async ({ storage, clock }) => {
    await sessionWithEvents(storage, 2);
    clock.advance(5);
    const outcome = await storage.append(createTestCommit('e3'));
    expect(outcome).toMatchObject({ kind: 'appended', now: clock.now(), previousTipSeq: 2 });
    expect(outcome).toMatchObject({ record: (await readSession(storage)).record });
  });

  test('a payload is returned as the same text', async ({ storage }) => {
    const payload = '{"z":1.0,"a":[],"n":"\\u0000\\ud83d\\ude00 é e\u0301","big":12345678901234567890,"__proto__":{}}';
    await storage.create(creation());
    await storage.append(createTestCommit('e1', { event: { payload, timestamp: 7 } }));
    const [event] = (await readSession(storage)).events;
    expect(event).toMatchObject({ payload, id: 'e1', seq: 1 });
  });

  test('an event carries the time of its append', async ({ storage, clock }) => {
    await storage.create(creation());
    clock.advance(1234);
    await storage.append(createTestCommit('e1', { event: { timestamp: 1 } }));
    expect((await readSession(storage)).events[0]?.appendedAt).toBe(clock.now());
  });

  test('a payload of a megabyte is stored completely', async ({ storage }) => {
    const payload = JSON.stringify({ text: 'é'.repeat(500_000) });
    await storage.create(creation());
    await storage.append(createTestCommit('e1', { event: { payload } }));
    expect((await readSession(storage)).events[0]?.payload === payload).toBe(true);
  });

  test('keys are set and removed in their own scopes only', async ({ storage }) => {
    await storage.create(
      creation({ upserts: [upsert('session', 'a', 1), upsert('session', 'b', 1), upsert('user', 'a', 1)] }),
    );
    await storage.append(
      createTestCommit('e1', {
        upserts: [upsert('session', 'a', 2), upsert('user', 'n', null), upsert('app', 'a', [])],
        removals: [
          { scope: 'session', name: 'b' },
          { scope: 'user', name: 'a' },
          { scope: 'app', name: 'never there' },
        ],
      }),
    );
    const { state } = await readSession(storage);
    expect(parsed(state.session)).toEqual({ a: 2 });
    expect(parsed(state.user)).toEqual({ n: null });
    expect(parsed(state.app)).toEqual({ a: [] });
    expect(await storage.readState(USER)).toEqual([['n', 'null']]);
    expect(await storage.readState(APP)).toEqual([['a', '[]']]);
  });

  test('a value is returned as the same text, and keys are compared byte for byte', async ({ storage }) => {
    const value = '{"b":1.50,"a":"\\u0000","c":[]}';
    const names = ['K', 'k', 'é', 'e\u0301', '__proto__', 'constructor', ' k', 'k ', 'a:b', '%', '_', '\t'];
    await storage.create(creation());
    await storage.append(
      createTestCommit('e1', {
        upserts: names.flatMap((name) =>
          (['session', 'user', 'app'] as const).map((scope) => ({ scope, name, value })),
        ),
      }),
    );
    const { state } = await readSession(storage);
    for (const entries of [state.session, state.user, state.app]) {
      expect(new Map(ownEntries(entries))).toEqual(new Map(names.map((name) => [name, value])));
    }
  });

  test('a state key of the maximum length is stored completely', async ({ storage }) => {
    const long = 'é'.repeat(255);
    await storage.create(creation());
    await storage.append(
      createTestCommit('e1', { upserts: [upsert('session', `${long}a`, 1), upsert('session', `${long}b`, 2)] }),
    );
    expect(parsed((await readSession(storage)).state.session)).toEqual({ [`${long}a`]: 1, [`${long}b`]: 2 });
  });

  test('counters are sums, also of concurrent appends', async ({ storage }) => {
    await storage.create(creation());
    const counterIncrements = countersFrom(1);
    await together(5, async (index) => storage.append(createTestCommit(`e${index}`, { counterIncrements })));
    await storage.append(
      createTestCommit('less', { counterIncrements: { ...NO_COUNTS, turns: -2, contentLength: -3 } }),
    );
    const sums = countersWith((name) => 5 * counterIncrements[name]);
    expect((await readSession(storage)).record.counters).toEqual({ ...sums, turns: 3, contentLength: 12 });
  });

  test('an expired session stays expired when the clock goes back', async ({ storage, clock }) => {
    await storage.create(creation());
    clock.advance(1000);
    const reached = clock.now();
    await storage.append(createTestCommit('e1'));
    clock.advance(-5000);
    await storage.append(createTestCommit('e2'));
    expect((await readSession(storage)).record).toMatchObject({ lastUpdateTime: reached, highWater: reached });
    await storage.append(createTestCommit('e3', { event: { timestamp: reached + 99 } }));
    await storage.append(createTestCommit('e4'));
    expect((await readSession(storage)).record).toMatchObject({ lastUpdateTime: reached, highWater: reached + 99 });
  });

  test('a commit without lifetimes does not change tip, update time and expiry', async ({ storage, clock }) => {
    await storage.create(creation({ expiry: lives({ session: 100, user: 100 }), upserts: [upsert('user', 'k', 1)] }));
    await storage.append(createTestCommit('e1', { expiry: lives({ session: 100, user: 100 }) }));
    const { record, scopeExpiry } = await readSession(storage);
    clock.advanceSeconds(50);
    const outcome = await storage.append(createTestCommit('e2', { expiry: undefined }));
    const { tipSeq, lastUpdateTime, expiresAt } = record;
    expect(outcome).toMatchObject({ kind: 'appended', previousTipSeq: 1 });
    const after = await readSession(storage);
    expect(after.record).toMatchObject({ lastSeq: 2, tipSeq, lastUpdateTime, expiresAt });
    expect(after.scopeExpiry).toEqual(scopeExpiry);
  });

  test('a commit to a session that is missing, expired or deleted writes nothing', async ({ storage, clock, raw }) => {
    const empty = await raw();
    const upserts = [upsert('session', 'k', 1), upsert('user', 'k', 1), upsert('app', 'k', 1)];
    expect(await storage.append(createTestCommit('e1', { upserts }))).toEqual({ kind: 'missing' });
    expect(await raw()).toEqual(empty);

    await storage.create(creation());
    await storage.delete(KEY);
    const deleted = await raw();
    expect(await storage.append(createTestCommit('e1', { upserts }))).toEqual({ kind: 'missing' });
    expect(await raw()).toEqual(deleted);

    await storage.create(creation({ expiry: lives({ session: 10 }) }));
    clock.advanceSeconds(10);
    const expired = await raw();
    expect(await storage.append(createTestCommit('e1', { upserts }))).toEqual({ kind: 'missing' });
    expect(await raw()).toEqual(expired);
  });
});
