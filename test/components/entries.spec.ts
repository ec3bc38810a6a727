import { ComponentSession } from '../../src/components/index.js';
import { EntryComponents } from '../../src/sessions/coordination/components/entry-components.js';
import { InMemoryEntries } from '../../src/sessions/storage/in-memory/in-memory-entries.js';
import type { EntryStore, EntryWrite } from '../../src/storage.js';
import { ManualClock } from '../../src/testing/manual-clock.js';

const TTL_MS = 1_000;

/** Entries of several groups, and what is written there. */
function openEntries() {
  const clock = new ManualClock();
  const kept = new InMemoryEntries(() => clock.now());
  const written: (readonly EntryWrite[])[] = [];
  const reads = { finds: 0, ranges: 0 };
  let left = Infinity;
  const store: EntryStore = {
    groups: 4,
    find: (places) => {
      reads.finds++;
      return kept.find(places);
    },
    range: (request) => {
      reads.ranges++;
      return kept.range(request);
    },
    count: (space) => kept.count(space),
    write: async (writes) => {
      if (left-- <= 0) throw new Error('The process died');
      written.push(writes);
      return kept.write(writes);
    },
  };
  const open = (ttlMs?: number): ComponentSession => new ComponentSession({ store: new EntryComponents(store), ttlMs });
  return { clock, kept, store, written, reads, open, dieAfter: (writes: number) => void (left = writes) };
}

const items = (count: number, length: number): string[] =>
  Array.from({ length: count }, (_, index) => `${index} ${'x'.repeat(length)}`);

describe('Entries of components', () => {
  it('are appended to at a cost that does not depend on the length of the list', async () => {
    const { open, written } = openEntries();
    const components = open(TTL_MS);
    const costs: number[] = [];
    for (let index = 0; index < 3_000; index++) {
      written.length = 0;
      await components.append('s', 'list', [`${index} ${'x'.repeat(50)}`]);
      costs.push(lengthOf(written));
      expect(written).toHaveLength(1);
    }
    expect(Math.max(...costs)).toBeLessThan(3 * 4_096);
    expect(average(costs.slice(-1_000))).toBeLessThan(1.1 * average(costs.slice(500, 1_500)));
    expect(await components.getList('s', 'list')).toHaveLength(3_000);
  });

  it('of a session that has expired are read and removed in three calls', async () => {
    const { clock, store, open, written, reads } = openEntries();
    for (let index = 0; index < 40; index++) await open(TTL_MS).save(`s-${index}`, 'value', index);
    clock.advance(TTL_MS + 1);
    Object.assign(reads, { finds: 0, ranges: 0 });
    written.length = 0;
    expect(await new EntryComponents(store).purgeExpired(100)).toBe(40);
    // And a range for each of the four groups.
    expect({ ...reads, writes: written.length }).toEqual({ finds: 40, ranges: 40 + 4, writes: 40 });
  });

  it('are at most 1,000 in a write, however long the list, and none is left of what is replaced or deleted', async () => {
    const { open, written, kept } = openEntries();
    const components = open();
    for (const list of [items(20_000, 10), items(3_000, 8_000), items(900, 3_000), items(5, 5)]) {
      await components.saveList('s', 'list', list);
      expect(await components.getList('s', 'list')).toEqual(list);
      const grown = [...list];
      for (let round = 0; round < 300; round++) {
        grown.push(`${round} ${'y'.repeat(5_000)}`);
        await components.append('s', 'list', grown.slice(-1));
      }
      expect(await open().getList('s', 'list')).toEqual(grown);
    }
    expect(Math.max(...written.map(({ length }) => length))).toBeLessThanOrEqual(1_000);
    await components.save('s', 'value', 'x'.repeat(10_000));
    await components.delete('s', 'list');
    expect(await components.listNames('s')).toEqual(['value']);
    const ofValue = kept.all().length;
    await components.save('s', 'value', 'y'.repeat(10_000));
    expect(kept.all()).toHaveLength(ofValue);
    await components.delete('s');
    expect(kept.all()).toEqual([]);
  });

  it.each([1, 2, 3, 4])('are as good as gone if the process dies after %d writes of a deletion', async (writes) => {
    const { open, dieAfter, kept, clock } = openEntries();
    const components = open();
    for (const name of ['list', 'b', 'c', 'd', 'e', 'f']) await components.saveList('s', name, items(600, 5_000));
    await components.save('s', 'other', 1);
    dieAfter(writes);
    await expect(components.delete('s')).rejects.toThrow('The process died');
    dieAfter(Infinity);

    const other = open(TTL_MS);
    expect([await other.exists('s'), await other.listSessionKeys()]).toEqual([false, []]);
    expect(await other.saveList('s', 'list', ['new'])).toBe(1);
    expect([await other.getList('s', 'list'), await other.listNames('s')]).toEqual([['new'], ['list']]);
    // What is left of the session before is no session that expired.
    expect(await other.purgeExpired()).toBe(0);
    expect(await other.getList('s', 'list')).toEqual(['new']);
    expect(kept.all()).toHaveLength(3);
    clock.advance(TTL_MS);
    expect([await other.purgeExpired(), kept.all()]).toEqual([1, []]);
  });

  it('are removed by a purge if the process dies after it replaced a long list', async () => {
    const { open, dieAfter, kept } = openEntries();
    const components = open();
    await components.saveList('s', 'list', items(2_000, 5_000));
    dieAfter(1);
    await expect(components.saveList('s', 'list', ['new'])).rejects.toThrow('The process died');
    dieAfter(Infinity);
    const other = open();
    expect(await other.getListVersioned('s', 'list')).toEqual({ value: ['new'], version: 2 });
    expect(kept.all().length).toBeGreaterThan(300);
    expect(await other.purgeExpired()).toBe(0);
    expect(kept.all()).toHaveLength(2);
    expect(await other.append('s', 'list', ['newer'])).toBe(3);
  });

  it('of a session that expired are not those of the next one of its id', async () => {
    const { open, clock, kept } = openEntries();
    const [components, other] = [open(TTL_MS), open(TTL_MS)];
    await components.saveList('s', 'list', items(100, 500));
    await components.save('s', 'value', 1);
    await other.getList('s', 'list');
    clock.advance(TTL_MS);
    // It still believes that the session lives.
    expect(await components.save('s', 'new', 1)).toBe(1);
    expect(await other.append('s', 'list', ['first'])).toBe(1);
    expect([await other.listNames('s'), await other.getList('s', 'list')]).toEqual([['list', 'new'], ['first']]);
    clock.advance(TTL_MS - 1);
    expect(await components.save('s', 'value', 2)).toBe(1);
    expect(await components.purgeExpired()).toBe(0);
    clock.advance(TTL_MS - 1);
    expect(await components.listNames('s')).toEqual(['list', 'new', 'value']);
    clock.advance(1);
    expect([await components.purgeExpired(), kept.all()]).toEqual([1, []]);
  });

  it('are written once each, however many are saved at the same time', async () => {
    const { open, written } = openEntries();
    const components = open(TTL_MS);
    const names = Array.from({ length: 20 }, (_, index) => `value ${index}`);
    await Promise.all(names.map((name) => components.save('s', name, name)));
    // The first one does not know the session.
    expect(written).toHaveLength(names.length);
    expect(await components.listNames('s')).toEqual(names.toSorted());
  });

  it('keep the expiry of a session if somebody saves without one', async () => {
    const { open, clock } = openEntries();
    const [expiring, lasting] = [open(TTL_MS), open()];
    await expiring.save('s', 'value', 1);
    clock.advance(TTL_MS / 2);
    await lasting.save('s', 'value', 2);
    await lasting.save('s', 'other', 1);
    await lasting.delete('s', 'other');
    clock.advance(TTL_MS / 2 - 1);
    expect(await lasting.get('s', 'value')).toBe(2);
    clock.advance(1);
    expect([await lasting.get('s', 'value'), await lasting.listSessionKeys()]).toEqual([undefined, []]);
    expect(await lasting.purgeExpired()).toBe(1);
  });

  it('are read whole while others write, delete and purge', async () => {
    const { open, clock } = openEntries();
    const writers = [open(TTL_MS), open(TTL_MS)];
    const lists = [items(300, 100), items(700, 90), items(2, 9_000)];
    let reads = 0;
    const isDone = Promise.all(
      writers.map(async (components, index) => {
        for (let round = 0; round < 60; round++) {
          await components.saveList('s', 'list', lists[(round + index) % lists.length] ?? []);
          if (round % 20 === 19) await components.delete('s');
          if (round % 15 === 14) clock.advance(TTL_MS);
          if (round % 10 === 9) await components.purgeExpired();
          await new Promise(setImmediate);
        }
        return true;
      }),
    );
    const reader = open();
    const ended = new AbortController();
    void isDone.finally(() => ended.abort());
    while (!ended.signal.aborted) {
      const found = await reader.getList<string>('s', 'list');
      expect([[], ...lists]).toContainEqual(found);
      reads++;
      await new Promise(setImmediate);
    }
    expect(await isDone).toEqual([true, true]);
    expect(reads).toBeGreaterThan(10);
  });
});

function lengthOf(written: readonly (readonly EntryWrite[])[]): number {
  const nexts = written.flat().map(({ next }) => (next && next !== 'same' ? next.text.length : 0));
  return nexts.reduce((sum, length) => sum + length, 0);
}

function average(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}
