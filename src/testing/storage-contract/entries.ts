import { newStamp } from '../../sessions/domain/values/stamp.js';
import { NEVER } from '../../sessions/domain/values/expiry.js';
import type { StoredEntry } from '../../sessions/storage/entry-store.js';
import { topic } from '../contract-runner.js';
import { SPACE, addition, currentIn, findEntry, newEntry, written } from './entry-support.js';
import { NAMES } from './lease-names.js';
import { type StorageFixture, together } from './support.js';

const LONG_NAMES = ['x'.repeat(1_024), `${'x'.repeat(1_023)}y`, '\ud83d\ude00'.repeat(256), `${'é'.repeat(511)}ab`];
const TEXTS = ['', ' ', 'a\nb\r\n', '{"a":[1]}', '\ud83d\ude00é', '\u0001\u001f', "'; --", 'é'.repeat(100_000)];

export const entries = topic<StorageFixture>('entries', (test) => {
  test('an entry is found as it was written', async ({ storage, clock }) => {
    for (const [index, text] of TEXTS.entries()) {
      const next = newEntry({ text, rank: index, since: clock.now() - index });
      await written(storage, { space: SPACE, name: `job ${index}`, expected: undefined, next });
      const { ttlMs, ...stored } = next;
      expect(ttlMs).toBe(NEVER);
      expect(await findEntry(storage, `job ${index}`)).toEqual({ space: SPACE, name: `job ${index}`, ...stored });
    }
  });

  test('all stamps are compared exactly', async ({ storage }) => {
    const stamps = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 1, 0, 2 ** 52 + 1, 10 ** 15];
    let expected: number | undefined;
    for (const stamp of stamps) {
      await written(storage, { space: SPACE, name: 'job', expected, next: newEntry({ stamp }) });
      expect(await findEntry(storage, 'job')).toMatchObject({ stamp });
      expected = stamp;
    }
  });

  test('entries are found in the order of the places', async ({ storage }) => {
    await written(storage, addition('a'), addition('b'), addition('a', { space: 'other', text: 'other' }));
    const places = [
      { space: 'other', name: 'a' },
      { space: SPACE, name: 'missing' },
      { space: SPACE, name: 'b' },
      { space: 'missing', name: 'a' },
      { space: SPACE, name: 'a' },
    ];
    const found = await storage.entries.find(places);
    expect(found.entries.map((entry) => entry && `${entry.space} ${entry.name} ${entry.text}`.trim())).toEqual([
      'other a other',
      undefined,
      'jobs b',
      undefined,
      'jobs a',
    ]);
    expect((await storage.entries.find([])).entries).toEqual([]);
  });

  test('times after the write are by the clock of the store', async ({ storage, clock }) => {
    const times = { rank: { inMs: 5_000 }, since: { inMs: -7 } };
    const outcome = await storage.entries.write([addition('job', times)]);
    const now = clock.now();
    expect(outcome).toEqual({ kind: 'written', now });
    clock.advance(1);
    expect(await findEntry(storage, 'job')).toMatchObject({ rank: now + 5_000, since: now - 7 });
    expect(await storage.entries.find([])).toMatchObject({ now: now + 1 });
    expect(await storage.entries.range({ space: SPACE, limit: 1 })).toMatchObject({ now: now + 1 });
    expect(await storage.entries.count(SPACE)).toMatchObject({ now: now + 1 });
  });

  test('an entry is replaced or removed only if it is as expected', async ({ storage, clock }) => {
    const store = storage.entries;
    const first = newStamp();
    await written(storage, addition('job', { stamp: first, text: 'one' }));
    const stored = await findEntry(storage, 'job');
    for (const expected of [undefined, first + 1]) {
      for (const next of [newEntry(), undefined, 'same'] as const) {
        const outcome = await store.write([{ space: SPACE, name: 'job', expected, next }]);
        expect(outcome).toEqual({ kind: 'changed', now: clock.now(), entries: [stored] });
      }
    }
    await written(storage, { space: SPACE, name: 'job', expected: first, next: 'same' });
    expect(await findEntry(storage, 'job')).toEqual(stored);
    const second = newEntry({ text: 'two', rank: 2 });
    await written(storage, { space: SPACE, name: 'job', expected: first, next: second });
    expect(await findEntry(storage, 'job')).toMatchObject({ stamp: second.stamp, text: 'two', rank: 2 });
    await written(storage, { space: SPACE, name: 'job', expected: second.stamp, next: undefined });
    expect(await findEntry(storage, 'job')).toBeUndefined();
  });

  test('an entry that does not exist is neither replaced nor removed', async ({ storage }) => {
    for (const next of [newEntry(), undefined, 'same'] as const) {
      const outcome = await storage.entries.write([{ space: SPACE, name: 'job', expected: 1, next }]);
      expect(currentIn(outcome)).toEqual([undefined]);
    }
    await written(storage, { space: SPACE, name: 'job', expected: undefined, next: undefined });
    await written(storage, { space: SPACE, name: 'job', expected: undefined, next: 'same' });
    expect(await findEntry(storage, 'job')).toBeUndefined();
  });

  test('entries of several spaces are written together, or none is', async ({ storage }) => {
    const store = storage.entries;
    const [a, b] = [newStamp(), newStamp()];
    await written(storage, addition('a', { stamp: a }), addition('b', { stamp: b, space: 'other' }));
    const before = await store.find([
      { space: SPACE, name: 'a' },
      { space: 'other', name: 'b' },
    ]);
    const refused = await store.write([
      { space: SPACE, name: 'a', expected: a, next: undefined },
      addition('c', { space: 'third' }),
      { space: 'other', name: 'b', expected: a, next: newEntry() },
    ]);
    expect(currentIn(refused)).toEqual([before.entries[0], undefined, before.entries[1]]);
    expect(await findEntry(storage, 'c', 'third')).toBeUndefined();
    await written(
      storage,
      { space: SPACE, name: 'a', expected: a, next: undefined },
      addition('c', { space: 'third' }),
      { space: 'other', name: 'b', expected: b, next: 'same' },
    );
    expect(await findEntry(storage, 'a')).toBeUndefined();
    expect(await findEntry(storage, 'b', 'other')).toEqual(before.entries[1]);
    expect(await findEntry(storage, 'c', 'third')).toBeDefined();
    await written(storage);
  });

  test('a text may become long and short again, and is in every answer', async ({ storage }) => {
    const store = storage.entries;
    let expected: number | undefined;
    for (const text of ['short', 'x'.repeat(300_000), 'é', 'y'.repeat(20_000), '']) {
      const next = newEntry({ text });
      await written(storage, { space: SPACE, name: 'job', expected, next });
      expect(await findEntry(storage, 'job')).toMatchObject({ text });
      expect((await store.range({ space: SPACE, limit: 10 })).entries).toMatchObject([{ text }]);
      const refused = await store.write([addition('other'), { space: SPACE, name: 'job', expected: 1, next: 'same' }]);
      expect(currentIn(refused)).toMatchObject([undefined, { text }]);
      expected = next.stamp;
    }
    await written(storage, { space: SPACE, name: 'job', expected, next: undefined });
    expect((await store.range({ space: SPACE, limit: 10 })).entries).toEqual([]);
  });

  test('entries of a group are written together, and those of several groups are found together', async ({
    storage,
  }) => {
    const store = storage.entries;
    const groups = [0, 1, 77];
    for (const group of groups) {
      const [one, two] = [addition('a', { space: `@${group}:one` }), addition('b', { space: `@${group}:two` })];
      await written(storage, one, two);
      expect(currentIn(await store.write([one, addition('c', { space: `@${group}:two` })]))).toMatchObject([
        { name: 'a' },
        undefined,
      ]);
    }
    const places = groups.map((group) => ({ space: `@${group}:two`, name: 'b' }));
    const { entries: found } = await store.find([
      ...places,
      { space: '@5:one', name: 'a' },
      { space: SPACE, name: 'a' },
    ]);
    expect(found).toMatchObject([...places, undefined, undefined]);
    expect((await store.range({ space: '@77:one', limit: 10 })).entries).toMatchObject([{ name: 'a' }]);
    expect(await store.count('@77:one')).toMatchObject({ waiting: 1, parked: 0 });
  });

  test('entries with different names or spaces are independent', async ({ storage }) => {
    const names = [...NAMES, ...LONG_NAMES];
    const places = [
      ...names.map((name) => ({ space: SPACE, name })),
      ...NAMES.map((space) => ({ space, name: 'job' })),
    ];
    for (const [index, { name, space }] of places.entries()) {
      await written(storage, addition(name, { space, stamp: index, text: `text ${index}` }));
    }
    const { entries: found } = await storage.entries.find(places);
    expect(found).toEqual(places.map((place, stamp) => ({ ...newEntryAt(stamp), ...place })));
    await written(
      storage,
      ...places.map((place, index) => {
        return { ...place, expected: index, next: index % 2 === 0 ? undefined : ('same' as const) };
      }),
    );
    const { entries: left } = await storage.entries.find(places);
    expect(left).toEqual(found.map((entry, index) => (index % 2 === 0 ? undefined : entry)));
  });

  test('1,000 entries are written and found at once', async ({ storage }) => {
    const names = Array.from({ length: 1_000 }, (_, index) => `job ${index}`);
    await written(storage, ...names.map((name) => addition(name)));
    const { entries: found } = await storage.entries.find(names.map((name) => ({ space: SPACE, name })));
    expect(found.map((entry) => entry?.name)).toEqual(names);
  });
});

function newEntryAt(stamp: number): Omit<StoredEntry, 'space' | 'name'> {
  return { stamp, rank: 0, since: 0, text: `text ${stamp}` };
}

export const racingEntries = topic<StorageFixture>('races of entries', (test) => {
  test('of 20 concurrent writers of a new entry, one wins, and the others get its entry', async ({ storage }) => {
    const outcomes = await together(20, (index) =>
      storage.entries.write([addition('job', { text: `writer ${index}` })]),
    );
    const stored = await findEntry(storage, 'job');
    expect(outcomes.filter(({ kind }) => kind === 'written')).toHaveLength(1);
    expect(outcomes.findIndex(({ kind }) => kind === 'written')).toBe(Number(stored?.text.slice('writer '.length)));
    const others = outcomes.filter(({ kind }) => kind === 'changed');
    expect(others.map(currentIn)).toEqual(others.map(() => [stored]));
  });

  test('of 20 concurrent writers over an entry, one wins, and the others get its entry', async ({ storage }) => {
    const expected = newStamp();
    await written(storage, addition('job', { stamp: expected }));
    const outcomes = await together(20, (index) =>
      storage.entries.write([
        { space: SPACE, name: 'job', expected, next: newEntry({ text: `writer ${index}`, rank: index }) },
      ]),
    );
    const stored = await findEntry(storage, 'job');
    const others = outcomes.filter(({ kind }) => kind === 'changed');
    expect(others.map(currentIn)).toEqual(Array.from({ length: 19 }, () => [stored]));
  });

  test('of 20 concurrent removals, one removes', async ({ storage }) => {
    const expected = newStamp();
    await written(storage, addition('job', { stamp: expected }));
    const outcomes = await together(20, () =>
      storage.entries.write([{ space: SPACE, name: 'job', expected, next: undefined }]),
    );
    expect(outcomes.filter(({ kind }) => kind === 'written')).toHaveLength(1);
  });

  test('writers of the same entries in different orders never wait for each other', async ({ storage }) => {
    const names = ['a', 'b', 'c'];
    const outcomes = await together(20, (index) => {
      const writes = names.map((name) => addition(name, { text: `writer ${index}`, space: `space ${name}` }));
      return storage.entries.write(index % 2 === 0 ? writes : writes.toReversed());
    });
    expect(outcomes.filter(({ kind }) => kind === 'written')).toHaveLength(1);
    const { entries: found } = await storage.entries.find(names.map((name) => ({ space: `space ${name}`, name })));
    expect(new Set(found.map((entry) => entry?.text)).size).toBe(1);
  });

  test('no change is lost when writers go on from the entry of a refused write', async ({ storage }) => {
    const store = storage.entries;
    await together(5, async () => {
      let current: StoredEntry | undefined;
      for (;;) {
        const next = newEntry({ text: String(Number(current?.text ?? 0) + 1) });
        const outcome = await store.write([{ space: SPACE, name: 'count', expected: current?.stamp, next }]);
        if (outcome.kind === 'written') return;
        [current] = outcome.entries;
      }
    });
    expect(await findEntry(storage, 'count')).toMatchObject({ text: '5' });
  });
});
