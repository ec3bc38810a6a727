import { BoundedMap } from '../../src/sessions/domain/process/bounded-map.js';

describe('BoundedMap', () => {
  it('removes the oldest entries; setting an entry again makes it the newest', () => {
    const map = new BoundedMap<number>(2);
    map.set('a', 1);
    map.set('b', 2);
    map.set('a', 3);
    map.set('c', 4);
    expect(['a', 'b', 'c'].map((name) => map.get(name))).toEqual([3, undefined, 4]);
    expect(map.has('b')).toBe(false);
    map.delete('a');
    expect(map.has('a')).toBe(false);
  });

  it('never has more than its size, and at least the newer half', () => {
    const map = new BoundedMap<number>(10);
    for (let index = 0; index < 100; index++) {
      map.set(`k${index}`, index);
      const kept = Array.from({ length: index + 1 }, (_, at) => at).filter((at) => map.has(`k${at}`));
      expect(kept.length).toBeLessThanOrEqual(10);
      expect(kept).toEqual(
        expect.arrayContaining(Array.from({ length: Math.min(5, index + 1) }, (_, at) => index - at)),
      );
    }
  });

  it('counts entries by their size, also of those that are replaced or deleted', () => {
    const map = new BoundedMap<string>(20, (text) => text.length);
    for (let round = 0; round < 100; round++) map.set('same', '12345');
    map.set('other', '12345');
    expect([map.get('same'), map.get('other')]).toEqual(['12345', '12345']);
    map.delete('same');
    map.set('third', '12345');
    expect([map.has('other'), map.has('third')]).toEqual([true, true]);
    map.set('large', '1234567890');
    map.set('next', '1');
    expect(['other', 'third', 'large', 'next'].map((name) => map.has(name))).toEqual([false, false, true, true]);
  });
});
