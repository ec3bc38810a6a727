import { RetryTimes } from '../../src/summarizer/retry-times.js';
import { ManualClock } from '../../src/testing/index.js';

describe('when to try again', () => {
  let clock: ManualClock;
  let retries: RetryTimes;

  beforeEach(() => {
    clock = new ManualClock();
    retries = new RetryTimes({ clock, firstMs: 1_000, mostMs: 4_000, random: () => 1 });
  });

  it('is later from failure to failure, up to a limit, until one succeeds', () => {
    expect([1, 2, 3, 4].map(() => retries.failed('one'))).toEqual(
      [1_000, 2_000, 4_000, 4_000].map((waitMs, index) => ({ count: index + 1, waitMs })),
    );
    clock.advance(3_999);
    expect(retries.isTooEarly('one')).toBe(true);
    expect(retries.isTooEarly('two')).toBe(false);
    clock.advance(1);
    expect(retries.isTooEarly('one')).toBe(false);
    retries.succeeded('one');
    expect(retries.failed('one')).toEqual({ count: 1, waitMs: 1_000 });
  });

  it('is not a day later where the clock was set back by a day', () => {
    let now = 100_000_000;
    retries = new RetryTimes({ clock: { now: () => now }, firstMs: 1_000, mostMs: 4_000 });
    retries.failed('one');
    expect(retries.isTooEarly('one')).toBe(true);
    now -= 24 * 60 * 60 * 1_000;
    expect(retries.isTooEarly('one')).toBe(false);
  });
});
