import { insertEvents } from '../../src/sessions/storage/typeorm/append/planned-rows.js';
import { inBatches } from '../../src/sessions/domain/stored/batches.js';
import { sql } from '../../src/sessions/storage/typeorm/sql/sql.js';

describe('inBatches', () => {
  it('limits the number of items per batch and keeps their order', () => {
    expect(inBatches([1, 2, 3, 4, 5], { items: 2 })).toEqual([[1, 2], [3, 4], [5]]);
    expect(inBatches([], { items: 2 })).toEqual([]);
    expect(inBatches(Array.from({ length: 2_001 })).map(({ length }) => length)).toEqual([1_000, 1_000, 1]);
  });

  it('limits the weight per batch; a heavier item gets a batch of its own', () => {
    const byWeight = { weight: 10, weightOf: (item: number) => item };
    expect(inBatches([4, 6, 1, 20, 9, 1, 1], byWeight)).toEqual([[4, 6], [1], [20], [9, 1], [1]]);
  });
});

describe('insertEvents', () => {
  it.each([
    { count: 1_200, characters: 10, portions: [500, 500, 200] },
    { count: 5, characters: 400_000, portions: [2, 2, 1] },
    { count: 3, characters: 1_500_000, portions: [1, 1, 1] },
  ])(
    'inserts $count events of $characters characters in statements of $portions events',
    ({ count, characters, portions }) => {
      const payload = 'x'.repeat(characters);
      const events = Array.from({ length: count }, (_, index) => ({
        pk: 1,
        seq: index + 1,
        id: `e-${index}`,
        appendedAt: 0,
        highWater: 0,
        anchor: false,
        timestamp: 0,
        payload,
      }));
      const statements = insertEvents({ events: sql`t` }, events);
      expect(statements.map(({ values }) => values.filter((value) => value === payload).length)).toEqual(portions);
    },
  );
});
