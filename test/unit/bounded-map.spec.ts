import { BoundedMap } from '../../src/sessions/domain/bounded-map.js';

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
});
