import { compareBytes } from '../../sessions/domain/values/ids.js';
import { newStamp } from '../../sessions/domain/values/stamp.js';
import { type EntryRange, PARKED, type StoredEntry } from '../../sessions/storage/entry-store.js';
import { topic } from '../contract-runner.js';
import { SPACE, addition, currentIn, findEntry, newEntry, written } from './entry-support.js';
import { NAMES } from './lease-names.js';
import { type StorageFixture, together } from './support.js';

const DAY_MS = 24 * 60 * 60 * 1_000;

async function inRange({ storage }: StorageFixture, range: Partial<EntryRange> = {}): Promise<readonly StoredEntry[]> {
  return (await storage.entries.range({ space: SPACE, limit: 1_000, ...range })).entries;
}

async function namesIn(fixture: StorageFixture, range: Partial<EntryRange> = {}): Promise<string[]> {
  return (await inRange(fixture, range)).map(({ name }) => name);
}

export const entryOrder = topic<StorageFixture>('order of entries', (test) => {
  test('the entries of a space are ordered by rank, then by the bytes of their names', async (fixture) => {
    const sorted = NAMES.toSorted(compareBytes);
    const ranked = sorted.map((name, index) => addition(name, { rank: 1_000 + Math.floor(index / 10) }));
    await written(fixture.storage, ...ranked.toReversed(), addition('elsewhere', { space: 'other' }));
    expect(await namesIn(fixture)).toEqual(sorted);
    expect(await namesIn(fixture, { limit: 3 })).toEqual(sorted.slice(0, 3));
    expect(await namesIn(fixture, { space: 'other' })).toEqual(['elsewhere']);
    expect(await namesIn(fixture, { space: 'missing' })).toEqual([]);
  });

  test('a range begins and ends at a rank', async (fixture) => {
    for (const [index, name] of ['a', 'b', 'c', 'd'].entries()) {
      await written(fixture.storage, addition(name, { rank: 1_000 * index }));
    }
    expect(await namesIn(fixture, { from: 1_000 })).toEqual(['b', 'c', 'd']);
    expect(await namesIn(fixture, { from: 1_001 })).toEqual(['c', 'd']);
    expect(await namesIn(fixture, { upTo: 2_000 })).toEqual(['a', 'b', 'c']);
    expect(await namesIn(fixture, { upTo: 1_999 })).toEqual(['a', 'b']);
    expect(await namesIn(fixture, { from: 1_000, upTo: 2_000 })).toEqual(['b', 'c']);
    expect(await namesIn(fixture, { from: 2_000, upTo: 1_000 })).toEqual([]);
  });

  test('an entry is due from its time', async (fixture) => {
    await written(fixture.storage, addition('due', { rank: { inMs: 0 } }), addition('later', { rank: { inMs: 10 } }));
    expect(await namesIn(fixture, { upTo: 'now' })).toEqual(['due']);
    fixture.clock.advance(9);
    expect(await namesIn(fixture, { upTo: 'now' })).toEqual(['due']);
    fixture.clock.advance(1);
    expect(await namesIn(fixture, { upTo: 'now' })).toEqual(['due', 'later']);
  });

  test('pages of a space follow each other', async (fixture) => {
    const names = NAMES.toSorted(compareBytes);
    await written(fixture.storage, ...names.map((name, index) => addition(name, { rank: Math.floor(index / 7) })));
    for (const limit of [1, 3, 7, names.length]) {
      const found: string[] = [];
      let after: StoredEntry | undefined;
      do {
        const page = await inRange(fixture, { after, limit });
        expect(page.length).toBeLessThanOrEqual(limit);
        found.push(...page.map(({ name }) => name));
        after = page.at(-1);
      } while (after);
      expect(found).toEqual(names);
    }
  });

  test('a page goes on where an entry was removed, and within the ranks of its range', async (fixture) => {
    for (const name of ['a', 'b', 'c', 'd']) await written(fixture.storage, addition(name, { rank: 5 }));
    await written(fixture.storage, addition('z', { rank: 4 }), addition('e', { rank: 6 }));
    const gone = await findEntry(fixture.storage, 'b');
    await written(fixture.storage, { space: SPACE, name: 'b', expected: gone?.stamp, next: undefined });
    expect(await namesIn(fixture, { after: { rank: 5, name: 'b' } })).toEqual(['c', 'd', 'e']);
    expect(await namesIn(fixture, { after: { rank: 5, name: 'b' }, upTo: 5 })).toEqual(['c', 'd']);
    expect(await namesIn(fixture, { after: { rank: 1, name: 'b' }, from: 5, limit: 2 })).toEqual(['a', 'c']);
    expect(await namesIn(fixture, { after: { rank: 5, name: 'c' }, from: 4 })).toEqual(['d', 'e']);
    expect(await namesIn(fixture, { after: { rank: 6, name: 'e' } })).toEqual([]);
  });

  test('a changed rank moves an entry', async (fixture) => {
    const stamp = newStamp();
    await written(fixture.storage, addition('a', { rank: 1, stamp }), addition('b', { rank: 2 }));
    await written(fixture.storage, { space: SPACE, name: 'a', expected: stamp, next: newEntry({ rank: 3 }) });
    expect(await namesIn(fixture)).toEqual(['b', 'a']);
    expect(await namesIn(fixture, { upTo: 1 })).toEqual([]);
  });

  test('parked entries are last, never due, and found by their rank', async (fixture) => {
    await written(
      fixture.storage,
      addition('parked', { rank: PARKED }),
      addition('b', { rank: 1 }),
      addition('c', { rank: { inMs: 400 * DAY_MS } }),
    );
    fixture.clock.advance(800 * DAY_MS);
    expect(await namesIn(fixture)).toEqual(['b', 'c', 'parked']);
    expect(await namesIn(fixture, { upTo: 'now' })).toEqual(['b', 'c']);
    expect(await inRange(fixture, { from: PARKED })).toMatchObject([{ name: 'parked', rank: PARKED }]);
  });

  test('entries of a space are counted', async ({ storage, clock }) => {
    const store = storage.entries;
    const now = clock.now();
    expect(await store.count(SPACE)).toEqual({ now, waiting: 0, oldestSince: undefined, parked: 0 });
    await written(storage, addition('parked', { rank: PARKED, since: 1 }));
    expect(await store.count(SPACE)).toEqual({ now, waiting: 0, oldestSince: undefined, parked: 1 });
    await written(
      storage,
      addition('a', { since: 3 }),
      addition('b', { since: 2, rank: PARKED - 1 }),
      addition('parked 2', { rank: PARKED, since: 0 }),
      addition('a', { space: 'other', since: 1 }),
    );
    expect(await store.count(SPACE)).toEqual({ now, waiting: 2, oldestSince: 2, parked: 2 });
    const b = await findEntry(storage, 'b');
    await written(storage, { space: SPACE, name: 'b', expected: b?.stamp, next: newEntry({ rank: PARKED, since: 9 }) });
    expect(await store.count(SPACE)).toEqual({ now, waiting: 1, oldestSince: 3, parked: 3 });
  });
});

export const entryExpiry = topic<StorageFixture>('expiry of entries', (test) => {
  test('an expired entry is as absent as one that was never written', async (fixture) => {
    const { storage, clock } = fixture;
    const stamp = newStamp();
    await written(
      storage,
      addition('job', { stamp, ttlMs: 1_000 }),
      addition('parked', { rank: PARKED, ttlMs: 1_000 }),
    );
    clock.advance(999);
    expect(await namesIn(fixture)).toEqual(['job', 'parked']);
    expect(await findEntry(storage, 'job')).toBeDefined();
    clock.advance(1);
    expect(await namesIn(fixture)).toEqual([]);
    expect(await findEntry(storage, 'job')).toBeUndefined();
    expect(await storage.entries.count(SPACE)).toEqual({
      now: clock.now(),
      waiting: 0,
      oldestSince: undefined,
      parked: 0,
    });
    const refused = await storage.entries.write([{ space: SPACE, name: 'job', expected: stamp, next: newEntry() }]);
    expect(currentIn(refused)).toEqual([undefined]);
    await written(storage, addition('job', { text: 'new', rank: 7 }));
    expect(await inRange(fixture)).toMatchObject([{ name: 'job', text: 'new', rank: 7 }]);
    await storage.purgeExpired(10);
    expect(await findEntry(storage, 'job')).toMatchObject({ text: 'new' });
  });

  test('of 20 concurrent writers over an expired entry, one wins', async ({ storage, clock }) => {
    await written(storage, addition('job', { ttlMs: 1_000 }));
    clock.advance(1_000);
    const outcomes = await together(20, (index) => storage.entries.write([addition('job', { rank: index })]));
    const stored = await findEntry(storage, 'job');
    const others = outcomes.filter(({ kind }) => kind === 'changed');
    expect(others.map(currentIn)).toEqual(Array.from({ length: 19 }, () => [stored]));
  });

  test('a write begins a new lifetime, and a comparison does not', async ({ storage, clock }) => {
    const [first, second] = [newStamp(), newStamp()];
    await written(storage, addition('renewed', { stamp: first, ttlMs: 1_000 }));
    await written(storage, addition('compared', { stamp: first, ttlMs: 1_000 }));
    clock.advance(999);
    const renewal = newEntry({ stamp: second, ttlMs: 1_000 });
    await written(
      storage,
      { space: SPACE, name: 'renewed', expected: first, next: renewal },
      { space: SPACE, name: 'compared', expected: first, next: 'same' },
    );
    clock.advance(999);
    expect(await findEntry(storage, 'renewed')).toMatchObject({ stamp: second });
    expect(await findEntry(storage, 'compared')).toBeUndefined();
    await written(storage, { space: SPACE, name: 'renewed', expected: second, next: newEntry() });
    clock.advance(1_000 * DAY_MS);
    expect(await findEntry(storage, 'renewed')).toBeDefined();
  });

  test('a purge removes expired entries up to its limit, and does not count them', async ({ storage, clock, raw }) => {
    const canaries = async (): Promise<number> => (await raw()).text.split('canary').length - 1;
    const none = { sessions: 0, userStates: 0, appStates: 0 };
    for (let index = 0; index < 5; index++) {
      await written(storage, addition(`job ${index}`, { text: 'canary', space: `space ${index % 2}`, ttlMs: 1_000 }));
    }
    await written(storage, addition('kept', { text: 'canary', ttlMs: 2_000 }));
    clock.advance(1_000);
    expect(await storage.purgeExpired(2)).toEqual(none);
    expect(await canaries()).toBe(4);
    await storage.purgeExpired(2);
    expect(await storage.purgeExpired(2)).toEqual(none);
    expect(await canaries()).toBe(1);
    expect(await findEntry(storage, 'kept')).toMatchObject({ text: 'canary' });
  });
});
