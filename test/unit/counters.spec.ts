import { countsOf } from '../../src/sessions/domain/counters.js';

function tokensOf(totalTokenCount: unknown): number {
  return countsOf({ author: 'agent', usageMetadata: { totalTokenCount: totalTokenCount as number } }).tokens;
}

describe('the token count of an event', () => {
  it.each([1, 2_000_000, 1e9])('is the count that the model reports: %d', (count) => {
    expect(tokensOf(count)).toBe(count);
  });

  it.each([undefined, null, -5, 0.5, '7', 1e9 + 1, Number.MAX_SAFE_INTEGER, 1e300])(
    'is 0 if the count is not valid: %p',
    (count) => {
      expect(tokensOf(count)).toBe(0);
    },
  );
});
