import type { AppendOutcome, StoredEvent } from '../../sessions/domain/stored/commit.js';
import { topic } from '../contract-runner.js';
import {
  KEY,
  type StorageFixture,
  createTestBatch,
  createTestCommit,
  digestsOf,
  readSession,
  sessionWithEvents,
} from './support.js';

async function trimmed({ storage }: StorageFixture, newFirstSeq: number): Promise<void> {
  const { incarnation, firstSeq, marksSeq } = (await readSession(storage)).record;
  const digests = digestsOf(firstSeq, newFirstSeq);
  const baseState = `{"upTo":${newFirstSeq}}`;
  await storage.trim({ key: KEY, incarnation, firstSeq, marksSeq, newFirstSeq, digests, baseState });
}

function outcomeEvents(outcome: AppendOutcome): readonly (StoredEvent | undefined)[] {
  return outcome.kind === 'seen' ? outcome.events : [];
}

export const trim = topic<StorageFixture>('trim', (test) => {
  test('no read returns trimmed events, and the base state is the new one', async (fixture) => {
    const { storage, raw } = fixture;
    await sessionWithEvents(storage, 2);
    await storage.append(createTestCommit('e3', { event: { payload: '"canary"' } }));
    await storage.append(createTestCommit('e4'));
    await trimmed(fixture, 4);
    const { record, events, baseState } = await readSession(storage);
    expect(record).toMatchObject({ firstSeq: 4, lastSeq: 4 });
    expect(events.filter(({ payload }) => payload !== null).map(({ seq }) => seq)).toEqual([4]);
    expect(events.map(({ seq }) => seq)).toEqual([4]);
    expect(baseState).toBe('{"upTo":4}');
    expect((await raw()).text).not.toContain('canary');
  });

  test('ids of trimmed events are retained, with the digests that the trim gave', async (fixture) => {
    const { storage } = fixture;
    await sessionWithEvents(storage, 3);
    await trimmed(fixture, 3);
    expect(await storage.append(createTestCommit('e1'))).toMatchObject({
      kind: 'seen',
      events: [{ seq: 1, id: 'e1', digest: 'digest of e1', payload: null }],
    });
    expect(await storage.append(createTestCommit('e4'))).toMatchObject({ kind: 'appended', record: { lastSeq: 4 } });
  });

  test('each of a thousand trimmed events keeps its own digest, also after the next trim', async (fixture) => {
    const { storage } = fixture;
    await sessionWithEvents(storage, 0);
    const ids = Array.from({ length: 1_010 }, (_, index) => `e${index + 1}`);
    for (let from = 0; from < ids.length; from += 101) {
      await storage.append(createTestBatch(ids.slice(from, from + 101).map((id) => ({ id }))));
    }
    await trimmed(fixture, 1_001);
    await trimmed(fixture, 1_006);
    for (const id of ['e1', 'e99', 'e100', 'e101', 'e500', 'e1000', 'e1001', 'e1005']) {
      const [event] = outcomeEvents(await storage.append(createTestCommit(id)));
      expect(event).toMatchObject({ id, digest: `digest of ${id}`, payload: null });
    }
    const [retained] = outcomeEvents(await storage.append(createTestCommit('e1006')));
    expect(retained).toMatchObject({ seq: 1_006, payload: '{"id":"e1006"}' });
  });

  test('a completely trimmed log continues with the next number', async (fixture) => {
    const { storage } = fixture;
    await sessionWithEvents(storage, 3);
    await trimmed(fixture, 4);
    expect((await readSession(storage)).events).toEqual([]);
    await storage.append(createTestCommit('e4'));
    expect((await readSession(storage)).events.map(({ seq }) => seq)).toEqual([4]);
  });

  test('a trim with another firstSeq, other marks or another incarnation does nothing', async (fixture) => {
    const { storage, raw } = fixture;
    await sessionWithEvents(storage, 6);
    const { incarnation } = (await readSession(storage)).record;
    await trimmed(fixture, 3);
    const before = await raw();
    const plan = {
      key: KEY,
      incarnation,
      firstSeq: 3,
      marksSeq: 0,
      newFirstSeq: 5,
      digests: digestsOf(3, 5),
      baseState: '{}',
    };
    await storage.trim({ ...plan, firstSeq: 1 });
    await storage.trim({ ...plan, marksSeq: 2 });
    await storage.trim({ ...plan, incarnation: 'another' });
    await storage.trim({ ...plan, key: { ...KEY, userId: 'bob' } });
    expect(await raw()).toEqual(before);
  });

  test('a trim renews no lifetime and changes no update time', async (fixture) => {
    const { storage, clock } = fixture;
    await sessionWithEvents(storage, 3);
    const { record } = await readSession(storage);
    clock.advance(10);
    await trimmed(fixture, 2);
    expect((await readSession(storage)).record).toEqual({ ...record, firstSeq: 2 });
  });
});
