import { sessionKeyOf } from '../../sessions/domain/values/ids.js';
import { topic } from '../contract-runner.js';
import { ODD_KEY, changedSessions, claimed, dispatchTo } from './consumer-support.js';
import {
  KEY,
  type StorageFixture,
  createTestBatch,
  createTestCommit,
  creation,
  lives,
  readSession,
  sessionWithEvents,
} from './support.js';
import { NO_COUNTS } from '../../sessions/domain/stored/counters.js';

const OTHER = { ...KEY, sessionId: 's-2' };

export const dispatching = topic<StorageFixture>('dispatching to consumers', (test) => {
  test('a consumer is stored once, with the time of its first registration', async ({ storage, clock }) => {
    const first = { name: 'mail', registeredAt: clock.now(), settings: '{"a":"1\\n"}' };
    expect(await storage.consumers.register('mail', first.settings)).toEqual(first);
    clock.advance(5);
    expect(await storage.consumers.register('mail', 'other')).toEqual(first);
    expect(await storage.consumers.list()).toEqual([first]);
  });

  test('a session is changed from its first event on, and has the time of that event', async ({ storage, clock }) => {
    await storage.create(creation());
    await storage.create(creation({ key: ODD_KEY }));
    const since = clock.now();
    await storage.append(createTestCommit('e1', { key: ODD_KEY }));
    clock.advance(5);
    const events = [{ id: 'e2' }, { id: 'e3' }];
    const after = await storage.append(createTestBatch(events, { key: ODD_KEY }));
    expect(after).toMatchObject({ record: { dispatchedSeq: 0, waitingSince: since } });
    const expected = { ...ODD_KEY, createTime: since, lastSeq: 3, dispatchedSeq: 0, waitingSince: since };
    const changed = await changedSessions(storage, 1);
    expect(changed).toEqual([expect.objectContaining(expected)]);
    expect(changed[0]?.incarnation).toBe((await readSession(storage, ODD_KEY)).record.incarnation);
  });

  test('a session that begins with a log is changed', async ({ storage, clock }) => {
    const event = { id: 'e1', anchor: false, payload: '{}', appendedAt: 1, highWater: 1 };
    const marks = { hidden: [], viewFromSeq: 0, summarySeq: 0 };
    const counters = { ...NO_COUNTS, events: 1 };
    const covered = { ...counters, events: 0 };
    const log = { events: [event], tipSeq: 1, counters, marks: { ...marks, covered }, marksSeq: 0 };
    await storage.create(creation({ log: log as never }));
    expect(await changedSessions(storage, 1)).toMatchObject([{ lastSeq: 1, waitingSince: clock.now() }]);
  });

  test('a dispatched session is unchanged until its next event', async ({ storage, clock }) => {
    await storage.consumers.register('mail', '');
    await sessionWithEvents(storage, 2);
    await dispatchTo(storage, ['mail']);
    expect(await storage.consumers.changed(10)).toEqual([]);
    expect((await readSession(storage)).record).toMatchObject({ dispatchedSeq: 2, waitingSince: 0 });
    clock.advance(7);
    await storage.append(createTestCommit('e3'));
    const changed = await changedSessions(storage, 1);
    expect(changed).toMatchObject([{ dispatchedSeq: 2, lastSeq: 3, waitingSince: clock.now() }]);
  });

  test('events that are appended during a dispatch are left for the next one', async ({ storage }) => {
    await storage.consumers.register('mail', '');
    await sessionWithEvents(storage, 2);
    const taken = await changedSessions(storage, 1);
    await storage.append(createTestCommit('e3'));
    expect(await storage.consumers.dispatch({ token: 1, work: [], taken })).toBe(true);
    expect(await changedSessions(storage, 1)).toMatchObject([{ dispatchedSeq: 2, lastSeq: 3 }]);
  });

  test('a late dispatch does not move the mark back', async ({ storage }) => {
    await storage.consumers.register('mail', '');
    await sessionWithEvents(storage, 1);
    const old = await changedSessions(storage, 1);
    await storage.append(createTestCommit('e2'));
    await dispatchTo(storage, ['mail']);
    await storage.append(createTestCommit('e3'));
    await storage.consumers.dispatch({ token: 1, work: [], taken: old });
    expect((await readSession(storage)).record).toMatchObject({ dispatchedSeq: 2, lastSeq: 3 });
    expect(await changedSessions(storage, 1)).toHaveLength(1);
  });

  test('new events extend existing work, also while it is claimed', async ({ storage }) => {
    await storage.consumers.register('mail', '');
    await sessionWithEvents(storage, 2);
    await dispatchTo(storage, ['mail']);
    const [entry] = await claimed(storage, 'mail');
    expect(entry).toMatchObject({ key: KEY, letterSeq: 0, seq: 0, upTo: 2, tries: 0 });
    await storage.append(createTestCommit('e3'));
    await dispatchTo(storage, ['mail']);
    expect(await claimed(storage, 'mail', 'two')).toEqual([]);
    const progress = { seq: 2, tries: 0, goesOn: true, dueInMs: 1_000 };
    expect(entry && (await storage.consumers.note(entry, progress))).toEqual({ kind: 'left', upTo: 3 });
  });

  test('each consumer gets its own work', async ({ storage }) => {
    for (const name of ['mail', 'sea:rch*']) await storage.consumers.register(name, '');
    await sessionWithEvents(storage, 1);
    await storage.create(creation({ key: OTHER }));
    await storage.append(createTestCommit('e1', { key: OTHER }));
    await dispatchTo(storage, ['mail', 'sea:rch*'], { count: 2 });
    for (const name of ['mail', 'sea:rch*']) {
      const keys = (await claimed(storage, name)).map(({ key }) => key.sessionId);
      expect(keys.toSorted()).toEqual(['s-1', 's-2']);
    }
  });

  test('settings change only if they are as expected; otherwise nothing is dispatched', async ({ storage }) => {
    const { registeredAt } = await storage.consumers.register('mail', 'one');
    await sessionWithEvents(storage, 1);
    const [session] = await changedSessions(storage, 1);
    if (!session) throw new Error('No session');
    const { incarnation } = session;
    const work = [{ consumer: 'mail', key: sessionKeyOf(session), incarnation, seq: 0, upTo: 1, since: 1 }];
    const dispatch = (expected: string, next: string): Promise<boolean> =>
      storage.consumers.dispatch({ token: 1, work, taken: [], settings: { name: 'mail', expected, next } });
    expect(await dispatch('two', 'three')).toBe(false);
    expect(await claimed(storage, 'mail')).toEqual([]);
    expect(await dispatch('one', 'two')).toBe(true);
    expect(await storage.consumers.list()).toEqual([{ name: 'mail', registeredAt, settings: 'two' }]);
    expect(await claimed(storage, 'mail')).toHaveLength(1);
    expect(await changedSessions(storage, 1)).toHaveLength(1);
  });

  test('a deleted or expired session leaves no mark', async ({ storage, clock }) => {
    await sessionWithEvents(storage, 1);
    await storage.delete(KEY);
    await storage.create(creation({ key: OTHER, expiry: lives({ session: 10 }) }));
    await storage.append(createTestCommit('e1', { key: OTHER, expiry: lives({ session: 10 }) }));
    clock.advanceSeconds(10);
    await storage.purgeExpired(10);
    expect(await storage.consumers.changed(10)).toEqual([]);
    await storage.create(creation());
    expect(await storage.consumers.changed(10)).toEqual([]);
  });

  test('the apps are listed by their bytes', async ({ storage }) => {
    for (const appName of ['b', 'a', 'B']) await storage.create(creation({ key: { ...KEY, appName } }));
    await storage.create(creation({ key: { ...OTHER, appName: 'a' } }));
    expect(await storage.consumers.apps()).toEqual(['B', 'a', 'b']);
  });
});
