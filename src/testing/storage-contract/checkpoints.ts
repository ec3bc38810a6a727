import { CHECKPOINT_EVERY } from '../../sessions/domain/history/checkpoint.js';
import { type InitialLog, EMPTY_LOG } from '../../sessions/domain/stored/session-record.js';
import type { SessionStorage, StoredCheckpoint } from '../../sessions/storage/session-storage.js';
import { topic } from '../contract-runner.js';
import {
  KEY,
  type StorageFixture,
  createTestBatch,
  createTestCommit,
  creation,
  digestsOf,
  lives,
  readSession,
  sessionWithEvents,
} from './support.js';

const [FIRST, SECOND, THIRD] = [1, 2, 5].map((count) => count * CHECKPOINT_EVERY) as [number, number, number];

async function save(storage: SessionStorage, ...seqs: readonly number[]): Promise<void> {
  const { incarnation } = (await readSession(storage)).record;
  for (const seq of seqs)
    await storage.saveCheckpoint({ key: KEY, incarnation, seq, text: `{"at":${seq},"ä":"\\u0000\n"}` });
}

async function checkpointAt(storage: SessionStorage, seq: number): Promise<StoredCheckpoint | undefined> {
  return (await storage.read({ key: KEY, checkpointAt: seq }))?.checkpoint;
}

async function trimTo(storage: SessionStorage, newFirstSeq: number): Promise<void> {
  const { incarnation, firstSeq, marksSeq } = (await readSession(storage)).record;
  await storage.trim({
    key: KEY,
    incarnation,
    firstSeq,
    marksSeq,
    newFirstSeq,
    digests: digestsOf(firstSeq, newFirstSeq),
    baseState: '{}',
  });
}

export const checkpoints = topic<StorageFixture>('checkpoints', (test) => {
  test('a read finds the newest checkpoint at or before an event', async ({ storage }) => {
    await sessionWithEvents(storage, 1);
    expect(await checkpointAt(storage, 10_000)).toBeUndefined();
    await save(storage, THIRD, FIRST, SECOND);
    const found = [FIRST - 1, FIRST, SECOND - 1, SECOND, THIRD - 1, THIRD, THIRD + 9].map((seq) =>
      checkpointAt(storage, seq),
    );
    expect((await Promise.all(found)).map((checkpoint) => checkpoint?.seq)).toEqual([
      undefined,
      FIRST,
      FIRST,
      SECOND,
      SECOND,
      THIRD,
      THIRD,
    ]);
    expect((await checkpointAt(storage, FIRST))?.text).toBe(`{"at":${FIRST},"ä":"\\u0000\n"}`);
    expect('checkpoint' in (await readSession(storage))).toBe(false);
  });

  test('checkpoints that are saved at the same time are all kept', async ({ storage }) => {
    await sessionWithEvents(storage, 1);
    await Promise.all([THIRD, FIRST, SECOND].map((seq) => save(storage, seq)));
    const found = await Promise.all([FIRST, SECOND, THIRD].map((seq) => checkpointAt(storage, seq)));
    expect(found.map((checkpoint) => checkpoint?.seq)).toEqual([FIRST, SECOND, THIRD]);
  });

  test('a checkpoint that is saved while a trim removes its event does not stay', async ({ storage }) => {
    await sessionWithEvents(storage, 1);
    for (let count = 1; count <= FIRST; count += 64) {
      await storage.append(
        createTestBatch(Array.from({ length: 64 }, (_, index) => ({ id: `more ${count + index}` }))),
      );
    }
    const trimming = trimTo(storage, FIRST + 2);
    const appending = storage.append(createTestCommit('beside'));
    await Promise.all([save(storage, FIRST), appending, trimming]);
    expect((await readSession(storage)).record.firstSeq).toBe(FIRST + 2);
    expect(await checkpointAt(storage, FIRST)).toBeUndefined();
  });

  test('saving one again, or one of another incarnation, changes nothing', async ({ storage, raw, clock }) => {
    await sessionWithEvents(storage, 1);
    await save(storage, FIRST);
    const { record } = await readSession(storage);
    const before = await raw();
    clock.advance(10);
    await save(storage, FIRST);
    const { incarnation } = record;
    await storage.saveCheckpoint({ key: KEY, incarnation: 'another', seq: SECOND, text: 'x' });
    await storage.saveCheckpoint({ key: { ...KEY, userId: 'bob' }, incarnation, seq: SECOND, text: 'x' });
    expect(await raw()).toEqual(before);
    expect((await readSession(storage)).record).toEqual(record);
  });

  test('a trim removes the checkpoints before the last trimmed event, and no later one is taken', async ({
    storage,
  }) => {
    await storage.create(creation({ log: createPlainLog(2 * CHECKPOINT_EVERY + 2) }));
    await save(storage, FIRST, SECOND);
    await trimTo(storage, FIRST + 1);
    expect((await checkpointAt(storage, FIRST))?.seq).toBe(FIRST);
    await trimTo(storage, FIRST + 2);
    expect(await checkpointAt(storage, SECOND - 1)).toBeUndefined();
    expect((await checkpointAt(storage, SECOND))?.seq).toBe(SECOND);
    await save(storage, FIRST);
    expect(await checkpointAt(storage, SECOND - 1)).toBeUndefined();
  });

  test('checkpoints are removed with the session, if it is deleted or expires', async ({ storage, clock, raw }) => {
    await storage.create(creation({ expiry: lives({ session: 10 }) }));
    const { incarnation } = (await readSession(storage)).record;
    const canary = { key: KEY, incarnation, seq: FIRST, text: 'canary' };
    await storage.saveCheckpoint(canary);
    clock.advanceSeconds(11);
    await storage.saveCheckpoint({ ...canary, seq: SECOND });
    await storage.purgeExpired(10);
    expect((await raw()).text).not.toContain('canary');
    await storage.create(creation());
    await save(storage, FIRST);
    await storage.delete(KEY);
    await storage.create(creation());
    expect(await checkpointAt(storage, THIRD)).toBeUndefined();
    await storage.saveCheckpoint(canary);
    expect((await raw()).text).not.toContain('canary');
  });
});

function createPlainLog(length: number): InitialLog {
  const events = Array.from({ length }, (_, index) => {
    const id = `e${index + 1}`;
    return { id, timestamp: 0, anchor: false, payload: '{}', appendedAt: 0, highWater: 0 };
  });
  return { ...EMPTY_LOG, events, tipSeq: length };
}
