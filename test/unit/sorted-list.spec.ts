import { comparePositions } from '../../src/sessions/storage/list-order.js';
import { SortedList } from '../../src/sessions/storage/in-memory/sorted-list.js';
import type { ListPosition } from '../../src/storage.js';
import { randomNumbers, seed } from '../support/random.js';

const ORDERS = ['asc', 'desc'] as const;

function placeAt(time: number, sessionId: string): ListPosition {
  return { time, userId: `u-${time % 3}`, sessionId };
}

describe('A sorted list', () => {
  it(`has what a sorted array has, after random changes (seed ${seed})`, () => {
    const random = randomNumbers(seed);
    const below = (limit: number): number => Math.floor(random() * limit);
    const places = new SortedList<ListPosition, ListPosition>((a, b) => comparePositions(a, b, { order: 'asc' }));
    let expected: ListPosition[] = [];
    for (let round = 1; round <= 6; round++) {
      for (let step = 0; step < 1_000; step++) {
        const place = placeAt(below(300), `s-${round}-${step}`);
        places.add(place);
        expected.push(place);
      }
      // First some are removed, in the end all.
      const [kept, removed] = [[] as ListPosition[], [] as ListPosition[]];
      for (const place of expected) (round < 6 && random() < 0.6 ? kept : removed).push(place);
      for (const place of removed) places.delete({ ...place });
      for (const place of removed.slice(0, 10)) places.delete(place);
      expected = kept.toSorted((a, b) => comparePositions(a, b, { order: 'asc' }));

      expect(places.size).toBe(expected.length);
      for (const order of ORDERS) {
        const sorted = order === 'asc' ? expected : expected.toReversed();
        expect([...places.from(undefined, order)]).toEqual(sorted);
        for (let step = 0; step < 20; step++) {
          const after = expected[below(expected.length * 2)] ?? placeAt(below(320) - 10, 's-other');
          const rest = sorted.filter((place) => comparePositions(place, after, { order }) > 0);
          expect([...places.from(after, order)]).toEqual(rest);
        }
      }
    }
  });
});
