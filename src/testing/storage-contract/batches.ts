import { topic } from '../contract-runner.js';
import {
  KEY,
  type StorageFixture,
  createTestBatch,
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

/** The ids of the events of one commit: between one and four. */
function createCommitIds(index: number): string[] {
  return Array.from({ length: 1 + (index % 4) }, (_, part) => `${index}.${part}`);
}

export const batches = topic<StorageFixture>('commits of several events', (test) => {
  test('the events of a commit get consecutive numbers, in their order', async ({ storage }) => {
    await sessionWithEvents(storage, 2);
    const outcome = await storage.append(createTestBatch([{ id: 'z' }, { id: 'a' }, { id: 'm' }]));
    const { events, record } = await readSession(storage);
    expect(outcome).toMatchObject({ kind: 'appended', previousTipSeq: 2, record });
    expect(events.slice(2)).toMatchObject([
      { seq: 3, id: 'z', payload: '{"id":"z"}' },
      { seq: 4, id: 'a', payload: '{"id":"a"}' },
      { seq: 5, id: 'm', payload: '{"id":"m"}' },
    ]);
    expect(record).toMatchObject({ firstSeq: 1, lastSeq: 5, tipSeq: 5 });
  });

  test('concurrent commits of several events are not interleaved', async ({ storage }) => {
    await storage.create(creation());
    const outcomes = await together(12, async (index) =>
      storage.append(createTestBatch(createCommitIds(index).map((id) => ({ id })))),
    );
    expect(outcomes.map(({ kind }) => kind)).toEqual(Array.from({ length: 12 }, () => 'appended'));
    const { events } = await readSession(storage);
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
    const order = events.flatMap(({ id }) => (id.endsWith('.0') ? [Number.parseInt(id, 10)] : []));
    expect(events.map(({ id }) => id)).toEqual(order.flatMap(createCommitIds));
  });

  test('state, counters and expiry are those of the whole commit', async ({ storage, clock }) => {
    await storage.create(creation({ expiry: lives({ session: 100 }), upserts: [upsert('session', 'old', 1)] }));
    clock.advanceSeconds(50);
    const outcome = await storage.append(
      createTestBatch([{ id: 'e1' }, { id: 'e2' }], {
        expiry: lives({ session: 100 }),
        upserts: [upsert('session', 'a', 1), upsert('user', 'b', 2), upsert('app', 'c', 3)],
        removals: [{ scope: 'session', name: 'old' }],
        counterIncrements: countersFrom(1),
      }),
    );
    const { state, record } = await readSession(storage);
    expect(parsed(state.session)).toEqual({ a: 1 });
    expect(parsed(state.user)).toEqual({ b: 2 });
    expect(parsed(state.app)).toEqual({ c: 3 });
    expect(record).toMatchObject({
      counters: countersFrom(1),
      expiresAt: clock.now() + 100_000,
      lastUpdateTime: clock.now(),
    });
    expect(outcome).toMatchObject({ now: clock.now(), record });
  });

  test('each event of a commit is found by anchor and time', async ({ storage, clock }) => {
    await sessionWithEvents(storage, 1);
    const now = clock.now();
    await storage.append(
      createTestBatch([
        { id: 'e2', timestamp: now + 10 },
        { id: 'e3', timestamp: now + 5, anchor: true },
        { id: 'e4', timestamp: now + 20 },
        { id: 'e5', timestamp: 0, anchor: true },
      ]),
    );
    const seqsOf = async (window: object): Promise<number[]> =>
      ((await storage.read({ key: KEY, window }))?.events ?? []).map(({ seq }) => seq);
    expect(await seqsOf({ anchorsOnly: true })).toEqual([3, 5]);
    expect(await seqsOf({ since: now + 1 })).toEqual([2, 3, 4, 5]);
    expect(await seqsOf({ since: now + 11 })).toEqual([4, 5]);
    expect(await seqsOf({ since: now + 21 })).toEqual([]);
    expect((await readSession(storage)).record.highWater).toBe(now + 20);
  });

  test('for known ids the stored events are returned in place, and nothing is written', async ({ storage, raw }) => {
    await storage.create(creation());
    await storage.append(createTestBatch([{ id: 'a' }, { id: 'b' }]));
    await storage.append(createTestCommit('c'));
    const before = await raw();
    const { record, events } = await readSession(storage);
    const [a, b, c] = events.map((event) => expect.objectContaining(event) as unknown);
    const again = async (...ids: string[]): Promise<unknown> =>
      storage.append(
        createTestBatch(
          ids.map((id) => ({ id, payload: '{}' })),
          { upserts: [upsert('session', 'k', 1), upsert('app', 'k', 1)], preconditions: { expectedVersion: 1 } },
        ),
      );
    expect(await again('a', 'b')).toEqual({ kind: 'seen', record, events: [a, b] });
    expect(await again('c', 'a')).toEqual({ kind: 'seen', record, events: [c, a] });
    expect(await again('new', 'b', 'other')).toEqual({ kind: 'seen', record, events: [undefined, b, undefined] });
    expect(await raw()).toEqual(before);
    expect(await storage.append(createTestCommit('new'))).toMatchObject({ kind: 'appended', previousTipSeq: 3 });
  });

  test('one of several concurrent commits that share an id is appended completely', async ({ storage, raw }) => {
    await storage.create(creation());
    const outcomes = await together(8, async (index) =>
      storage.append(createTestBatch([{ id: `first of ${index}` }, { id: 'shared' }, { id: `last of ${index}` }])),
    );
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['appended', ...Array.from({ length: 7 }, () => 'seen')]);
    expect((await raw()).events).toBe(3);
    expect((await readSession(storage)).record).toMatchObject({ lastSeq: 3, tipSeq: 3 });
  });

  test('a refused commit writes none of its events', async ({ storage, raw, clock }) => {
    await storage.create(creation({ expiry: lives({ session: 10 }) }));
    await storage.append(createTestCommit('e1', { expiry: lives({ session: 10 }) }));
    const before = await raw();
    const events = [{ id: 'e2' }, { id: 'e3' }];
    const upserts = [upsert('session', 'k', 1), upsert('user', 'k', 1), upsert('app', 'k', 1)];
    expect(await storage.append(createTestBatch(events, { upserts, preconditions: { expectedVersion: 0 } }))).toEqual({
      kind: 'stale',
      lastSeq: 1,
    });
    expect(
      await storage.append(createTestBatch(events, { upserts, preconditions: { incarnation: 'another' } })),
    ).toEqual({
      kind: 'missing',
    });
    clock.advanceSeconds(10);
    expect(await storage.append(createTestBatch(events, { upserts }))).toEqual({ kind: 'missing' });
    expect(await raw()).toEqual(before);
  });

  test('a hundred events with payloads of 5 KB are stored completely', async ({ storage }) => {
    await storage.create(creation());
    const events = Array.from({ length: 100 }, (_, index) => ({
      id: `e${index + 1}`,
      payload: JSON.stringify({ text: `${index}: ${'é"'.repeat(1_700)}` }),
    }));
    await storage.append(createTestBatch(events));
    const stored = (await readSession(storage)).events;
    expect(stored.map(({ seq, id }) => [seq, id])).toEqual(events.map(({ id }, index) => [index + 1, id]));
    expect(stored.every(({ payload }, index) => payload === events[index]?.payload)).toBe(true);
  });

  test('a commit can have a thousand events', async ({ storage }) => {
    await storage.create(creation());
    const events = Array.from({ length: 1_000 }, (_, index) => ({ id: `e${index + 1}`, anchor: index % 7 === 0 }));
    const upserts = events.map(({ id }) => upsert('session', id, id));
    expect(await storage.append(createTestBatch(events, { upserts }))).toMatchObject({ kind: 'appended' });
    expect((await readSession(storage)).record.lastSeq).toBe(1_000);
    const again = await storage.append(createTestBatch([...events.slice(1), { id: 'new' }], { upserts }));
    expect(again.kind === 'seen' && again.events.map((event) => event?.seq)).toEqual([
      ...Array.from({ length: 999 }, (_, index) => index + 2),
      undefined,
    ]);
  });
});
