import { countsOf } from '../../src/sessions/domain/counters.js';

function tokensOf(totalTokenCount: unknown): number {
  return countsOf({ author: 'agent', usageMetadata: { totalTokenCount: totalTokenCount as number } }).tokens;
}

describe('the tokens of an event', () => {
  it.each([1, 2_000_000, 1e9])('are counted as the model reports them: %d', (count) => {
    expect(tokensOf(count)).toBe(count);
  });

  it.each([undefined, null, -5, 0.5, '7', 1e9 + 1, Number.MAX_SAFE_INTEGER, 1e300])(
    'are none where no model reports that: %p',
    (count) => {
      expect(tokensOf(count)).toBe(0);
    },
  );
});
