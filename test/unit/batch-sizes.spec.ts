import { LearnedBatchSize } from '../../src/sessions/domain/byte-budget.js';

const PAGE = 1_000;
const eventsOf = (...sizes: number[]) => sizes.map((size) => ({ payload: 'x'.repeat(size) }));

describe('LearnedBatchSize', () => {
  let sizes: LearnedBatchSize;

  beforeEach(() => {
    sizes = new LearnedBatchSize(PAGE / 8);
  });

  it('at most doubles from batch to batch, up to what is wanted', () => {
    const found: number[] = [];
    for (let batch = 0; batch < 5; batch++) {
      found.push(sizes.next(64, PAGE));
      sizes.learn(eventsOf(1, 2));
    }
    expect(found).toEqual([8, 16, 32, 64, 64]);
  });

  it('expects events as large as the largest of the last batch', () => {
    sizes.learn(eventsOf(3, 200, 7));
    expect([sizes.next(64, PAGE), sizes.next(64, 450), sizes.next(64, 199)]).toEqual([5, 2, 0]);
  });

  it('forgets a large event by halves', () => {
    sizes.learn(eventsOf(800));
    const found: number[] = [];
    for (let batch = 0; batch < 4; batch++) {
      found.push(sizes.next(64, PAGE));
      sizes.learn(eventsOf(1));
    }
    expect(found).toEqual([1, 2, 5, 10]);
  });

  it('takes all that is wanted if events have no bytes', () => {
    for (let batch = 0; batch < 20; batch++) sizes.learn([]);
    expect(sizes.next(64, PAGE)).toBe(64);
  });
});
