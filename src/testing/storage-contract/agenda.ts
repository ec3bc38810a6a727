import type { AgendaEntry } from '../../sessions/storage/coordination.js';
import { topic } from '../contract-runner.js';
import { type StorageFixture, together } from './support.js';

export const agenda = topic<StorageFixture>('agenda', (test) => {
  test('an entry is due from its time until it is removed', async ({ storage, clock }) => {
    const dueAt = clock.now() + 10_000;
    await storage.agenda.put('job', 10_000);
    clock.advance(9_999);
    expect(await storage.agenda.due(10)).toEqual([]);
    clock.advance(1);
    expect(await storage.agenda.due(10)).toEqual([{ name: 'job', dueAt }]);
    clock.advance(1_000_000);
    expect(await storage.agenda.due(10)).toEqual([{ name: 'job', dueAt }]);
  });

  test('an entry may be due immediately, or in 400 days', async ({ storage, clock }) => {
    const begin = clock.now();
    await storage.agenda.put('later', LONGEST_MS);
    await storage.agenda.put('now', 0);
    expect(await storage.agenda.due(10)).toEqual([{ name: 'now', dueAt: begin }]);
    clock.advance(LONGEST_MS);
    expect(await storage.agenda.due(10)).toEqual([
      { name: 'now', dueAt: begin },
      { name: 'later', dueAt: begin + LONGEST_MS },
    ]);
  });

  test('the later of two times wins, in any order', async ({ storage, clock }) => {
    const begin = clock.now();
    await storage.agenda.put('put off', 1_000);
    await storage.agenda.put('put off', 5_000);
    await storage.agenda.put('kept', 5_000);
    await storage.agenda.put('kept', 1_000);
    clock.advance(4_999);
    expect(await storage.agenda.due(10)).toEqual([]);
    // The delay counts from now, so this time is later than the stored one.
    await storage.agenda.put('kept', 2_000);
    clock.advance(1);
    expect(await storage.agenda.due(10)).toEqual([{ name: 'put off', dueAt: begin + 5_000 }]);
    clock.advance(1_999);
    expect(listAgendaNames(await storage.agenda.due(10))).toEqual(['put off', 'kept']);
  });

  test('due entries are ordered by time, then by the bytes of their names, up to the limit', async ({
    storage,
    clock,
  }) => {
    // UTF-16 would sort the last two the other way round.
    const sameTime = ['A', 'B', 'a', 'a\u0001', 'aa', '\u00e9', '\uff5e', '\ud83d\ude00'];
    for (const name of sameTime.toReversed()) await storage.agenda.put(name, 2_000);
    await storage.agenda.put('z', 1_000);
    await storage.agenda.put('0', 3_000);
    await storage.agenda.put('not yet', 3_001);
    clock.advance(3_000);
    const all = ['z', ...sameTime, '0'];
    expect(listAgendaNames(await storage.agenda.due(1_000))).toEqual(all);
    expect(listAgendaNames(await storage.agenda.due(3))).toEqual(all.slice(0, 3));
    expect(listAgendaNames(await storage.agenda.due(1))).toEqual(['z']);
  });

  test('removing an entry keeps the others', async ({ storage, clock }) => {
    for (const name of ['a', 'b', 'c']) await storage.agenda.put(name, 1_000);
    clock.advance(1_000);
    const [first, second] = await storage.agenda.due(2);
    if (first) await storage.agenda.remove(first);
    if (first) await storage.agenda.remove(first);
    expect(listAgendaNames(await storage.agenda.due(10))).toEqual(['b', 'c']);
    if (second) await storage.agenda.remove(second);
    await storage.agenda.remove({ name: 'never put', dueAt: clock.now() });
    expect(listAgendaNames(await storage.agenda.due(10))).toEqual(['c']);
    await storage.agenda.put('a', 0);
    expect(listAgendaNames(await storage.agenda.due(10))).toEqual(['a', 'c']);
  });

  test('an entry postponed since it was read is not removed', async ({ storage, clock }) => {
    await storage.agenda.put('job', 1_000);
    clock.advance(1_000);
    const [read] = await storage.agenda.due(1);
    await storage.agenda.put('job', 1);
    if (read) await storage.agenda.remove(read);
    expect(await storage.agenda.due(10)).toEqual([]);
    clock.advance(1);
    expect(await storage.agenda.due(10)).toEqual([{ name: 'job', dueAt: clock.now() }]);
  });

  test('of 50 concurrent puts of a name, the latest time wins', async ({ storage, clock }) => {
    const latest = clock.now() + 50_000;
    await together(50, (index) => storage.agenda.put('job', 1_000 * (((index * 7) % 50) + 1)));
    clock.advance(50_000);
    expect(await storage.agenda.due(10)).toEqual([{ name: 'job', dueAt: latest }]);
  });

  test('50 concurrent puts of different names are all stored', async ({ storage }) => {
    await together(50, (index) => storage.agenda.put(`job ${index}`, 0));
    expect(listAgendaNames(await storage.agenda.due(1_000)).toSorted()).toEqual(
      Array.from({ length: 50 }, (_, index) => `job ${index}`).toSorted(),
    );
  });

  test('concurrent postponing and removing lose no entry', async ({ storage, clock }) => {
    for (let round = 0; round < 5; round++) {
      await storage.agenda.put('job', 0);
      const [read] = await storage.agenda.due(1);
      if (!read) throw new Error('The entry was lost');
      await together(10, (index) => (index === 5 ? storage.agenda.put('job', 1) : storage.agenda.remove(read)));
      clock.advance(1);
      expect(await storage.agenda.due(10)).toEqual([{ name: 'job', dueAt: clock.now() }]);
    }
  });

  test('neither a purge nor a deleted session changes the agenda', async ({ storage, clock }) => {
    const key = { appName: 'job', userId: 'job', sessionId: 'job' };
    await storage.agenda.put('job', 0);
    await storage.leases.acquire({ name: 'job', holder: 'one', ttlMs: 1_000 });
    await storage.delete(key);
    clock.advance(1_000);
    expect(await storage.purgeExpired(10)).toEqual({ sessions: 0, userStates: 0, appStates: 0 });
    expect(listAgendaNames(await storage.agenda.due(10))).toEqual(['job']);
  });
});

const LONGEST_MS = 400 * 24 * 60 * 60 * 1000;

function listAgendaNames(entries: readonly AgendaEntry[]): string[] {
  return entries.map(({ name }) => name);
}
