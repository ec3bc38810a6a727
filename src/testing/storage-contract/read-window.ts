import { EMPTY_LOG } from '../../sessions/domain/stored/session-record.js';
import { NO_COUNTS } from '../../sessions/domain/stored/counters.js';
import { OWN_SEQ } from '../../sessions/domain/stored/view-marks.js';
import type { GroupSearch } from '../../sessions/domain/event/event-group.js';
import type { EventWindow, SessionStorage } from '../../sessions/storage/session-storage.js';
import { topic } from '../contract-runner.js';
import {
  KEY,
  type StorageFixture,
  createTestBatch,
  createTestCommit,
  creation,
  readSession,
  upsert,
  digestsOf,
  byKeys,
} from './support.js';

/** Twelve events, one per second. The anchors are 1, 5 and 9. */
async function twelveEvents({ storage, clock }: StorageFixture): Promise<number> {
  const start = clock.now();
  await storage.create(creation());
  for (let seq = 1; seq <= 12; seq++) {
    clock.advanceSeconds(1);
    await storage.append(createTestCommit(`e${seq}`, { event: { anchor: seq % 4 === 1, timestamp: clock.now() } }));
  }
  return start;
}

/** Group g1 has 1, 3, 4, 6, 8 and 9, group g2 has 2 and 7. */
function groupAt(seq: number): string {
  return ['', 'g1', 'g2', 'g1', 'g1'][seq % 5] ?? '';
}

/** A store that cannot tell finds nothing. */
async function expectFound(storage: SessionStorage, find: GroupSearch, seq: number): Promise<void> {
  const { found } = (await storage.read({ key: KEY, find })) ?? {};
  expect([find, found ?? seq]).toEqual([find, seq]);
}

/** A store may return more events than requested, so this checks only the requested ones. */
async function expectAtLeast(storage: SessionStorage, window: EventWindow, wanted: readonly number[]): Promise<void> {
  const seqs = (await storage.read({ key: KEY, window }))?.events.map(({ seq }) => seq);
  expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
  expect(seqs).toEqual(expect.arrayContaining([...wanted]));
}

export const readWindow = topic<StorageFixture>('windows of a read', (test) => {
  test('a read without a window returns no events, without a limit all events', async (fixture) => {
    await twelveEvents(fixture);
    expect(await fixture.storage.read({ key: KEY })).toMatchObject({ events: [] });
    await expectAtLeast(fixture.storage, {}, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });

  test('a read of a missing session returns nothing', async ({ storage }) => {
    expect(await storage.read({ key: KEY, window: {}, withState: true })).toBeUndefined();
  });

  test('a limit of bytes ends a window early, after at least one event, and says so', async ({ storage }) => {
    await storage.create(creation());
    const payload = JSON.stringify('x'.repeat(998));
    const events = Array.from({ length: 150 }, (_, index) => ({ id: `e${index}`, payload, anchor: index < 80 }));
    await storage.append(createTestBatch(events));
    for (const keep of ['newest', 'oldest'] as const) {
      for (const maxBytes of [1, 1_500, 99_000, 200_000]) {
        for (const anchorsOnly of [false, true]) {
          const read = await storage.read({ key: KEY, window: { keep, maxBytes, anchorsOnly, limit: 140 } });
          const seqs = read?.events.map(({ seq }) => seq) ?? [];
          const all = anchorsOnly ? 80 : 140;
          const last = keep === 'oldest' ? seqs.length : anchorsOnly ? 80 : 150;
          expect(seqs).toEqual(seqs.map((_, index) => last - seqs.length + 1 + index));
          expect(seqs.length).toBeGreaterThan(0);
          // A store may read a few events before it knows their size, and the first one that does not fit.
          expect(seqs.length).toBeLessThanOrEqual(Math.max(64, maxBytes / 1_000 + 1));
          expect(read?.isCut === true || seqs.length === all).toBe(true);
          if (maxBytes === 200_000 && !anchorsOnly) expect(seqs).toHaveLength(all);
        }
      }
    }
  });

  test('a window after an event holds all later events', async (fixture) => {
    await twelveEvents(fixture);
    await expectAtLeast(fixture.storage, { afterSeq: 9 }, [10, 11, 12]);
    await expectAtLeast(fixture.storage, { afterSeq: 12 }, []);
  });

  test('a limit keeps the newest events, or the oldest', async (fixture) => {
    await twelveEvents(fixture);
    await expectAtLeast(fixture.storage, { limit: 3 }, [10, 11, 12]);
    await expectAtLeast(fixture.storage, { limit: 3, keep: 'oldest' }, [1, 2, 3]);
    await expectAtLeast(fixture.storage, { limit: 2, keep: 'oldest', afterSeq: 4 }, [5, 6]);
    await expectAtLeast(fixture.storage, { limit: 99 }, [1, 12]);
  });

  test('an event of a group is found in both directions, also in the first log and after a trim', async ({
    storage,
  }) => {
    const events = createTestBatch([1, 2, 3, 4, 5].map((seq) => ({ id: `e${seq}`, group: groupAt(seq) }))).events.map(
      (event) => ({ ...event, appendedAt: 0, highWater: 0 }),
    );
    const log = { ...EMPTY_LOG, events, tipSeq: 5 };
    await storage.create(creation({ log }));
    for (const seq of [6, 7]) await storage.append(createTestCommit(`e${seq}`, { event: { group: groupAt(seq) } }));
    await storage.append(createTestBatch([8, 9, 10].map((seq) => ({ id: `e${seq}`, group: groupAt(seq) }))));
    await storage.append(createTestCommit('e11'));
    const { incarnation } = (await storage.read({ key: KEY }))?.record ?? {};
    const expectAll = async (): Promise<void> => {
      for (const [from, next, previous] of [
        [4, 4, 4],
        [5, 6, 4],
        [7, 8, 6],
        [9, 9, 9],
        [10, 0, 9],
        [40, 0, 9],
      ] as const) {
        await expectFound(storage, { group: 'g1', direction: 'next', from }, next);
        await expectFound(storage, { group: 'g1', direction: 'previous', from }, previous);
      }
      await expectFound(storage, { group: 'g2', direction: 'next', from: 3 }, 7);
      await expectFound(storage, { group: 'g2', direction: 'previous', from: 40 }, 7);
      await expectFound(storage, { group: 'g2', direction: 'previous', from: Number.MAX_SAFE_INTEGER }, 7);
      await expectFound(storage, { group: 'g2', direction: 'next', from: Number.MAX_SAFE_INTEGER }, 0);
      await expectFound(storage, { group: 'g3', direction: 'next', from: 1 }, 0);
      await expectFound(storage, { group: 'g3', direction: 'previous', from: 40 }, 0);
    };
    await expectAll();
    await storage.trim({
      key: KEY,
      incarnation: incarnation ?? '',
      firstSeq: 1,
      marksSeq: 0,
      newFirstSeq: 4,
      digests: digestsOf(1, 4),
      baseState: '{}',
    });
    await expectAll();
  });

  test('a window of ranges holds each of them', async (fixture) => {
    await twelveEvents(fixture);
    const ranges = [
      { from: 2, to: 3 },
      { from: 7, to: 9 },
      { from: 12, to: 40 },
    ];
    await expectAtLeast(fixture.storage, { ranges }, [2, 3, 7, 8, 9, 12]);
    await expectAtLeast(fixture.storage, { ranges, limit: 3 }, [8, 9, 12]);
    await expectAtLeast(fixture.storage, { ranges, limit: 3, keep: 'oldest' }, [2, 3, 7]);
    await expectAtLeast(fixture.storage, { ranges, afterSeq: 8 }, [9, 12]);
    await expectAtLeast(fixture.storage, { ranges: [] }, []);
  });

  test('a window of anchors with a limit holds the newest anchors', async (fixture) => {
    await twelveEvents(fixture);
    await expectAtLeast(fixture.storage, { anchorsOnly: true }, [1, 5, 9]);
    await expectAtLeast(fixture.storage, { anchorsOnly: true, limit: 1, ranges: [{ from: 1, to: 8 }] }, [5]);
    const ranges = [
      { from: 1, to: 2 },
      { from: 6, to: 8 },
    ];
    await expectAtLeast(fixture.storage, { anchorsOnly: true, limit: 1, ranges }, [1]);
  });

  test('a window since a time holds every event of that time or later', async (fixture) => {
    const start = await twelveEvents(fixture);
    await expectAtLeast(fixture.storage, { since: start + 10_000 }, [10, 11, 12]);
    await expectAtLeast(fixture.storage, { since: start + 10_001 }, [11, 12]);
    await expectAtLeast(fixture.storage, { since: start + 99_000 }, []);
    fixture.clock.advanceSeconds(5);
    await expectAtLeast(fixture.storage, { maxAgeMs: 7_000 }, [10, 11, 12]);
    await expectAtLeast(fixture.storage, { maxAgeMs: 7_000, limit: 2 }, [11, 12]);
  });

  test('a window since a time also holds later events with an earlier time', async (fixture) => {
    const start = await twelveEvents(fixture);
    const { storage } = fixture;
    await storage.append(createTestCommit('future', { event: { timestamp: start + 60_000 } }));
    await storage.append(createTestCommit('past', { event: { timestamp: start } }));
    await storage.append(createTestCommit('later', { event: { timestamp: start + 61_000 } }));
    await expectAtLeast(storage, { since: start + 60_000 }, [13, 15]);
  });

  test('a window of the view holds the events that the current summary does not cover', async (fixture) => {
    await twelveEvents(fixture);
    const { storage } = fixture;
    await storage.append(
      createTestCommit('summary', { marks: { hidden: [], viewFromSeq: 8, summarySeq: OWN_SEQ, covered: NO_COUNTS } }),
    );
    await storage.append(createTestCommit('e14'));
    await expectAtLeast(storage, { inView: true }, [9, 10, 11, 12, 14]);
    await expectAtLeast(storage, { inView: true, limit: 2 }, [14]);
    await expectAtLeast(storage, {}, [1, 8, 14]);
  });

  test('the current summary is read on request', async (fixture) => {
    await twelveEvents(fixture);
    const { storage } = fixture;
    expect(await storage.read({ key: KEY, withSummary: true })).not.toHaveProperty('summary');
    await storage.append(
      createTestCommit('summary', {
        event: { payload: '"sum"' },
        marks: { hidden: [], viewFromSeq: 8, summarySeq: OWN_SEQ, covered: NO_COUNTS },
      }),
    );
    expect((await storage.read({ key: KEY, withSummary: true }))?.summary).toMatchObject({ seq: 13, payload: '"sum"' });
    expect(await storage.read({ key: KEY })).not.toHaveProperty('summary');
  });

  test('state and base state are read on request', async ({ storage }) => {
    await storage.create(creation({ baseState: '{"k":1}', upserts: [upsert('session', 'k', 1)] }));
    expect(await storage.read({ key: KEY, withBase: true })).toMatchObject({ baseState: '{"k":1}' });
    expect(byKeys((await storage.read({ key: KEY, withState: true }))?.state)).toEqual({
      session: [['k', '1']],
      user: [],
      app: [],
    });
  });

  test('a window holds events of its own session only', async ({ storage }) => {
    const others = [
      { ...KEY, sessionId: 's-2' },
      { ...KEY, userId: 'bob' },
      { ...KEY, appName: 'other' },
    ];
    for (const key of [KEY, ...others]) {
      await storage.create(creation({ key }));
      await storage.append(createTestCommit(JSON.stringify(key).slice(0, 80), { key }));
    }
    for (const key of [KEY, ...others]) {
      expect((await readSession(storage, key)).events.map(({ id }) => id)).toEqual([JSON.stringify(key).slice(0, 80)]);
    }
  });
});
