import { OWN_SEQ } from '../../sessions/domain/stored/view-marks.js';
import { topic } from '../contract-runner.js';
import {
  KEY,
  type StorageFixture,
  createTestCommit,
  creation,
  readSession,
  sessionWithEvents,
  countersFrom,
  together,
  upsert,
} from './support.js';

const COVERED = countersFrom(1);

export const preconditions = topic<StorageFixture>('preconditions of a commit', (test) => {
  test('for a known id the stored event is returned and nothing is written', async ({ storage, raw }) => {
    await sessionWithEvents(storage, 3);
    const before = await raw();
    const { record, events } = await readSession(storage);
    const again = createTestCommit('e2', { event: { payload: '{"other":1}' }, upserts: [upsert('session', 'k', 1)] });
    expect(await storage.append(again)).toEqual({
      kind: 'seen',
      record,
      events: [expect.objectContaining(events[1]) as unknown],
    });
    expect(await raw()).toEqual(before);
  });

  test('one of several concurrent commits with one id is appended, and the others return it', async ({
    storage,
    raw,
  }) => {
    await storage.create(creation());
    const outcomes = await together(8, async () => storage.append(createTestCommit('same')));
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['appended', ...Array.from({ length: 7 }, () => 'seen')]);
    expect((await raw()).events).toBe(1);
  });

  test('event ids are compared byte for byte, and belong to one session', async ({ storage }) => {
    await storage.create(creation());
    await storage.create(creation({ key: { ...KEY, sessionId: 's-2' } }));
    for (const id of ['E', 'e', 'é', 'e\u0301', 'e ', '*']) {
      expect(await storage.append(createTestCommit(id))).toMatchObject({ kind: 'appended' });
      expect(await storage.append(createTestCommit(id, { key: { ...KEY, sessionId: 's-2' } }))).toMatchObject({
        kind: 'appended',
      });
    }
  });

  test('a known id is checked before every precondition except the incarnation', async ({ storage }) => {
    await sessionWithEvents(storage, 3);
    const unmet = { expectedVersion: 1, lastSeq: 1, marksSeq: 7 };
    expect(await storage.append(createTestCommit('e1', { preconditions: unmet }))).toMatchObject({ kind: 'seen' });
    expect(await storage.append(createTestCommit('e1', { preconditions: { incarnation: 'another' } }))).toEqual({
      kind: 'missing',
    });
  });

  test('an event is recognised also beside another append, whatever its preconditions say', async ({ storage }) => {
    await sessionWithEvents(storage, 2);
    const repeated = createTestCommit('e1', { preconditions: { lastSeq: 0 } });
    const outcomes = await Promise.all([
      storage.append(createTestCommit('e3')),
      storage.append(repeated),
      storage.append(createTestCommit('e4')),
    ]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['appended', 'seen', 'appended']);
    expect((await readSession(storage)).record.lastSeq).toBe(4);
  });

  test('a commit for another incarnation finds no session', async ({ storage, raw }) => {
    await storage.create(creation());
    const { incarnation } = (await readSession(storage)).record;
    await storage.delete(KEY);
    await storage.create(creation());
    const before = await raw();
    expect(await storage.append(createTestCommit('e1', { preconditions: { incarnation } }))).toEqual({
      kind: 'missing',
    });
    expect(await raw()).toEqual(before);
    const current = (await readSession(storage)).record.incarnation;
    expect(await storage.append(createTestCommit('e1', { preconditions: { incarnation: current } }))).toMatchObject({
      kind: 'appended',
    });
  });

  test('an expected version is accepted from the tip to the last event', async ({ storage, raw }) => {
    await sessionWithEvents(storage, 2);
    await storage.append(createTestCommit('summary', { expiry: undefined }));
    const before = await raw();
    for (const expectedVersion of [0, 1, 4]) {
      expect(await storage.append(createTestCommit('new', { preconditions: { expectedVersion } }))).toEqual({
        kind: 'stale',
        lastSeq: 3,
      });
    }
    expect(await raw()).toEqual(before);
    expect(await storage.append(createTestCommit('e4', { preconditions: { expectedVersion: 2 } }))).toMatchObject({
      kind: 'appended',
      previousTipSeq: 2,
    });
    expect(await storage.append(createTestCommit('e5', { preconditions: { expectedVersion: 4 } }))).toMatchObject({
      kind: 'appended',
    });
  });

  test('one of several concurrent commits with one expected version is appended', async ({ storage, raw }) => {
    await sessionWithEvents(storage, 1);
    const outcomes = await together(8, async (index) =>
      storage.append(createTestCommit(`r${index}`, { preconditions: { expectedVersion: 1 } })),
    );
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['appended', ...Array.from({ length: 7 }, () => 'stale')]);
    expect((await raw()).events).toBe(2);
  });

  test('a commit with the precondition lastSeq is refused after any other commit', async ({ storage, raw }) => {
    await sessionWithEvents(storage, 2);
    await storage.append(createTestCommit('summary', { expiry: undefined }));
    const before = await raw();
    expect(await storage.append(createTestCommit('new', { preconditions: { lastSeq: 2 } }))).toEqual({
      kind: 'overtaken',
    });
    expect(await raw()).toEqual(before);
    expect(await storage.append(createTestCommit('new', { preconditions: { lastSeq: 3 } }))).toMatchObject({
      kind: 'appended',
    });
  });

  test('a commit with the precondition marksSeq is refused only after new marks', async ({ storage, raw }) => {
    await sessionWithEvents(storage, 2);
    const marks = { hidden: [], viewFromSeq: 1, summarySeq: OWN_SEQ, covered: COVERED };
    await storage.append(createTestCommit('e3', { marks, preconditions: { marksSeq: 0 } }));
    const before = await raw();
    expect(await storage.append(createTestCommit('new', { marks, preconditions: { marksSeq: 0 } }))).toEqual({
      kind: 'overtaken',
    });
    expect(await raw()).toEqual(before);
    await storage.append(createTestCommit('e4'));
    expect(await storage.append(createTestCommit('new', { marks, preconditions: { marksSeq: 3 } }))).toMatchObject({
      kind: 'appended',
    });
  });

  test('marks are stored, with the number of their own event', async ({ storage }) => {
    await sessionWithEvents(storage, 2);
    const hidden = [
      { from: 2, to: 2 },
      { from: OWN_SEQ, to: OWN_SEQ },
    ];
    await storage.append(
      createTestCommit('e3', { marks: { hidden, viewFromSeq: 1, summarySeq: OWN_SEQ, covered: COVERED } }),
    );
    await storage.append(createTestCommit('e4'));
    expect((await readSession(storage)).record).toMatchObject({
      marksSeq: 3,
      marks: {
        hidden: [
          { from: 2, to: 2 },
          { from: 3, to: 3 },
        ],
        viewFromSeq: 1,
        summarySeq: 3,
        covered: COVERED,
      },
    });
  });
});
