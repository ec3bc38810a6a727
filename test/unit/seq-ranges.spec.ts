import fc from 'fast-check';
import { type SeqRange, isInRanges, newestOf, rangesOutside } from '../../src/sessions/domain/values/seq-ranges.js';
import { rangesAbove, rangesBelow } from '../../src/sessions/domain/values/seq-ranges.js';
import { seed } from '../support/random.js';

function range(from: number, to: number): SeqRange {
  return { from, to };
}

/** All numbers of the ranges, in order. */
function numbersOf(ranges: readonly SeqRange[]): number[] {
  return ranges.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, index) => from + index));
}

const anyRange = fc.tuple(fc.nat(30), fc.nat(10)).map(([from, length]) => range(from, from + length));
const anyRanges = fc.array(anyRange, { maxLength: 6 });
/** Ranges in order and without overlap. */
const disjointRanges = anyRanges.map((holes) => rangesOutside(range(0, 50), holes));

describe('isInRanges', () => {
  it('includes both ends of a range', () => {
    const ranges = [range(2, 3), range(6, 6)];
    expect([1, 2, 3, 4, 5, 6, 7].filter((seq) => isInRanges(seq, ranges))).toEqual([2, 3, 6]);
    expect(isInRanges(1, [])).toBe(false);
  });
});

describe('rangesOutside', () => {
  it.each([
    ['returns the whole range if there are no holes', [], [range(1, 9)]],
    ['returns two ranges for a hole in the middle', [range(4, 5)], [range(1, 3), range(6, 9)]],
    ['returns the middle for holes at both ends', [range(1, 2), range(8, 9)], [range(3, 7)]],
    ['returns nothing for a hole that covers the range', [range(0, 99)], []],
    ['returns no empty range between adjacent holes', [range(3, 4), range(5, 6)], [range(1, 2), range(7, 9)]],
    [
      'accepts holes that are not sorted and that overlap',
      [range(5, 8), range(2, 3), range(2, 6)],
      [range(1, 1), range(9, 9)],
    ],
    ['ignores holes outside of the range', [range(0, 0), range(10, 12)], [range(1, 9)]],
  ])('%s', (_name, holes, left) => {
    expect(rangesOutside(range(1, 9), holes)).toEqual(left);
  });

  it('returns nothing for an empty range', () => {
    expect(rangesOutside(range(5, 4), [])).toEqual([]);
    expect(rangesOutside(range(5, 4), [range(1, 2)])).toEqual([]);
  });

  it('returns exactly the numbers outside of all holes, and no empty range', () => {
    fc.assert(
      fc.property(anyRange, anyRanges, (whole, holes) => {
        const left = rangesOutside(whole, holes);
        expect(numbersOf(left)).toEqual(numbersOf([whole]).filter((seq) => !isInRanges(seq, holes)));
        expect(left.every(({ from, to }) => from <= to)).toBe(true);
      }),
      { seed },
    );
  });
});

describe('newestOf', () => {
  it('takes numbers from the end and cuts the last range it needs', () => {
    const ranges = [range(1, 3), range(6, 7), range(9, 9)];
    expect(newestOf(ranges, 2)).toEqual([range(7, 7), range(9, 9)]);
    expect(newestOf(ranges, 3)).toEqual([range(6, 7), range(9, 9)]);
    expect(newestOf(ranges, 99)).toEqual(ranges);
    expect(newestOf(ranges, 0)).toEqual([]);
    expect(newestOf([], 5)).toEqual([]);
  });

  it('takes exactly the newest numbers', () => {
    fc.assert(
      fc.property(disjointRanges, fc.nat(60), (ranges, count) => {
        const numbers = numbersOf(ranges);
        const newest = numbers.slice(numbers.length - Math.min(count, numbers.length));
        expect(numbersOf(newestOf(ranges, count))).toEqual(newest);
      }),
      { seed },
    );
  });
});

describe('rangesBelow and rangesAbove', () => {
  it('split ranges at a number, without that number', () => {
    const ranges = [range(1, 3), range(5, 8)];
    expect(rangesBelow(ranges, 6)).toEqual([range(1, 3), range(5, 5)]);
    expect(rangesAbove(ranges, 6)).toEqual([range(7, 8)]);
    expect(rangesBelow(ranges, 1)).toEqual([]);
    expect(rangesAbove(ranges, 8)).toEqual([]);
    expect(rangesAbove(ranges, 0)).toEqual(ranges);
  });

  it('return exactly the numbers on their side', () => {
    fc.assert(
      fc.property(disjointRanges, fc.nat(55), (ranges, seq) => {
        expect(numbersOf(rangesBelow(ranges, seq))).toEqual(numbersOf(ranges).filter((number) => number < seq));
        expect(numbersOf(rangesAbove(ranges, seq))).toEqual(numbersOf(ranges).filter((number) => number > seq));
      }),
      { seed },
    );
  });
});
