import { Remembered } from '../../src/summarizer/remembered.js';

describe('what is remembered', () => {
  it('is the newest of it: what was set again is new', () => {
    const remembered = new Remembered<number>(2);
    remembered.set('a', 1);
    remembered.set('b', 2);
    remembered.set('a', 3);
    remembered.set('c', 4);
    expect(['a', 'b', 'c'].map((name) => remembered.get(name))).toEqual([3, undefined, 4]);
    expect(remembered.has('b')).toBe(false);
    remembered.delete('a');
    expect(remembered.has('a')).toBe(false);
  });
});
