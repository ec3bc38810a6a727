import { RetrySchedule } from '../../src/summarizer/retry-schedule.js';
import { ManualClock } from '../../src/testing/index.js';

describe('RetrySchedule', () => {
  let clock: ManualClock;
  let retries: RetrySchedule;

  beforeEach(() => {
    clock = new ManualClock();
    retries = new RetrySchedule({ clock, firstMs: 1_000, maxMs: 4_000, random: () => 1 });
  });

  it('doubles the pause with each failure, up to a limit, until a success', () => {
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

  it('ignores a pause after the clock was set back', () => {
    let now = 100_000_000;
    retries = new RetrySchedule({ clock: { now: () => now }, firstMs: 1_000, maxMs: 4_000 });
    retries.failed('one');
    expect(retries.isTooEarly('one')).toBe(true);
    now -= 24 * 60 * 60 * 1_000;
    expect(retries.isTooEarly('one')).toBe(false);
  });
});
