import type { InitialLog } from '../../sessions/domain/stored/session-record.js';
import { topic } from '../contract-runner.js';
import {
  KEY,
  type StorageFixture,
  createTestCommit,
  creation,
  lives,
  parsed,
  countersFrom,
  readSession,
  together,
  upsert,
} from './support.js';

const COVERED = countersFrom(1);

/** Events `e1`, `e2` …, every third of them an anchor, and a record with values that do not follow from the events. */
function createSampleLog(count: number, changes: Partial<InitialLog> = {}): InitialLog {
  return {
    events: Array.from({ length: count }, (_, index) => ({
      id: `e${index + 1}`,
      timestamp: index,
      anchor: index % 3 === 0,
      payload: JSON.stringify({ id: `e${index + 1}`, text: 'a\u0000b' }),
      appendedAt: 1_000 + index,
      highWater: 5_000 + index,
    })),
    tipSeq: count - 1,
    counters: countersFrom(3),
    marks: { hidden: [{ from: 2, to: 3 }], viewFromSeq: 0, summarySeq: 1, covered: COVERED },
    marksSeq: 3,
    ...changes,
  };
}

export const createWithLog = topic<StorageFixture>('create with a log', (test) => {
  test('a session is created with its events, its state and the matching record', async ({ storage, clock }) => {
    const request = creation({ baseState: '{"k":0}', upserts: [upsert('session', 'k', 1)], log: createSampleLog(5) });
    const created = await storage.create(request);
    expect(created?.record).toMatchObject({
      createTime: clock.now(),
      lastUpdateTime: clock.now(),
      firstSeq: 1,
      lastSeq: 5,
      tipSeq: 4,
      highWater: 5_004,
      counters: countersFrom(3),
      marks: { hidden: [{ from: 2, to: 3 }], viewFromSeq: 0, summarySeq: 1, covered: COVERED },
      marksSeq: 3,
    });
    expect(created?.events).toEqual([]);
    const stored = await readSession(storage);
    expect(stored.record).toEqual(created?.record);
    expect(stored.events).toMatchObject(
      createSampleLog(5).events.map(({ id, payload, appendedAt }, index) => ({
        seq: index + 1,
        id,
        payload,
        appendedAt,
      })),
    );
    expect(stored.summary).toMatchObject({ seq: 1, id: 'e1' });
    expect(parsed(stored.state.session)).toEqual({ k: 1 });
    expect(stored.baseState).toBe('{"k":0}');
  });

  test('its events are found by id, anchor and time, and appends continue after them', async ({ storage, clock }) => {
    await storage.create(creation({ log: createSampleLog(7) }));
    expect(await storage.append(createTestCommit('e6'))).toMatchObject({
      kind: 'seen',
      events: [{ seq: 6, appendedAt: 1_005 }],
    });
    expect(await storage.append(createTestCommit('new', { preconditions: { lastSeq: 7, marksSeq: 3 } }))).toMatchObject(
      {
        kind: 'appended',
        previousTipSeq: 6,
        record: { lastSeq: 8, highWater: clock.now() },
      },
    );
    const seqs = async (window: object): Promise<number[]> =>
      ((await storage.read({ key: KEY, window }))?.events ?? []).map(({ seq }) => seq);
    expect(await seqs({ anchorsOnly: true })).toEqual([1, 4, 7]);
    expect(await seqs({ since: 5_004 })).toEqual([5, 6, 7, 8]);
    expect(await seqs({ ranges: [{ from: 2, to: 3 }] })).toEqual([2, 3]);
  });

  test('a long log is created in one call', async ({ storage }) => {
    await storage.create(creation({ log: createSampleLog(9_001) }));
    const stored = await storage.read({ key: KEY, window: { limit: 2 } });
    expect(stored?.record.lastSeq).toBe(9_001);
    expect(stored?.events.map(({ id }) => id)).toEqual(['e9000', 'e9001']);
  });

  test('a live session is not overwritten', async ({ storage, raw }) => {
    await storage.create(creation());
    await storage.append(createTestCommit('own'));
    const before = await raw();
    expect(
      await storage.create(creation({ upserts: [upsert('session', 'k', 1)], log: createSampleLog(3) })),
    ).toBeUndefined();
    expect(await raw()).toEqual(before);
  });

  test('of concurrent creates only the log of the successful one is stored', async ({ storage, raw }) => {
    const answers = await together(6, async (index) => storage.create(creation({ log: createSampleLog(index + 1) })));
    const winners = answers.flatMap((answer) => (answer ? [answer.record] : []));
    expect(winners).toHaveLength(1);
    expect((await readSession(storage)).events).toHaveLength(winners[0]?.lastSeq ?? 0);
    expect(await raw()).toMatchObject({ sessions: 1, events: winners[0]?.lastSeq });
  });

  test('it replaces an expired session completely', async ({ storage, clock, raw }) => {
    const expiry = lives({ session: 10 });
    await storage.create(creation({ expiry, log: createSampleLog(9) }));
    clock.advanceSeconds(10);
    expect(await storage.read({ key: KEY })).toBeUndefined();
    await storage.create(
      creation({
        expiry,
        log: createSampleLog(2, { marks: { hidden: [], viewFromSeq: 0, summarySeq: 0, covered: COVERED } }),
      }),
    );
    expect((await readSession(storage)).events.map(({ id }) => id)).toEqual(['e1', 'e2']);
    expect(await raw()).toMatchObject({ sessions: 1, events: 2 });
    await storage.delete(KEY);
    expect(await raw()).toMatchObject({ sessions: 0, events: 0 });
  });
});
