import fc from 'fast-check';
import { givenRanges, renumberedRequest } from '../../src/sessions/domain/event/model-request.js';
import { requestDifference } from '../../src/sessions/domain/event/request-difference.js';

/** Some events, each once, in any order. */
const events = fc.shuffledSubarray(Array.from({ length: 12 }, (_, index) => ({ seq: index + 1 })));

function seqsOf(given: readonly (readonly [number, number])[]): number[] {
  return given.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, index) => from + index));
}

describe('what a model was given', () => {
  it('says the same events in the same order', () => {
    fc.assert(
      fc.property(events, (some) => {
        expect(seqsOf(givenRanges(some).given)).toEqual(some.map(({ seq }) => seq));
      }),
    );
  });

  it('of too many ranges says only about which events they were', () => {
    const every = Array.from({ length: 1_001 }, (_, index) => ({ seq: 3_000 - 2 * index }));
    expect(givenRanges(every)).toEqual({ given: [[1_000, 3_000]], isExact: false });
    expect(givenRanges(every.slice(1)).isExact).toBeUndefined();
  });

  it('has no more ranges in a log where events between them are missing', () => {
    const given = Array.from({ length: 1_000 }, (_, index): [number, number] => [4 * index + 1, 4 * index + 3]);
    const stretches = Array.from({ length: 2_000 }, (_, index) => {
      return { from: 2 * index + 1, to: 2 * index + 1, shift: index };
    });
    const moved = renumberedRequest({ given, toolsHash: 'h' }, stretches);
    expect(moved).toEqual({ given: [[1, 5_998]], isExact: false, toolsHash: 'h' });
  });

  it('differs from another request by what a comparison of all events finds', () => {
    fc.assert(
      fc.property(events, events, (before, after) => {
        const [was, is] = [before, after].map((some) => some.map(({ seq }) => seq)) as [number[], number[]];
        const found = requestDifference({ seq: 20, ...givenRanges(before) }, givenRanges(after));
        const end = was.findIndex((seq, index) => is[index] !== seq);
        expect(found.stableUntilSeq).toBe((end < 0 ? was : was.slice(0, end)).at(-1) ?? 0);
        expect(seqsOf(found.added)).toEqual(is.filter((seq) => !was.includes(seq)).toSorted((a, b) => a - b));
        expect(seqsOf(found.removed)).toEqual(was.filter((seq) => !is.includes(seq)).toSorted((a, b) => a - b));
      }),
    );
  });

  it('has in another log the events that are there, and says whether these are all', () => {
    const stretches = [
      { from: 9, to: 9, shift: -8 },
      { from: 4, to: 6, shift: -2 },
    ];
    expect(
      renumberedRequest(
        {
          given: [
            [9, 9],
            [4, 6],
          ],
          promptHash: 'h',
        },
        stretches,
      ),
    ).toEqual({
      given: [[1, 4]],
      promptHash: 'h',
    });
    expect(renumberedRequest({ given: [[3, 7]] }, stretches)).toEqual({ given: [[2, 4]], isExact: false });
  });
});
