import { parseRetryAfter } from '../../../src/summarizer/models/provider-response.js';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

describe('parseRetryAfter', () => {
  it.each([
    ['120', 120_000],
    ['0', 0],
    ['1.5', 1_500],
    ['Fri, 02 Jan 2026 03:05:05 GMT', 60_000],
    ['Fri, 02 Jan 2026 03:00:00 GMT', 0],
    ['-5', undefined],
    ['soon', undefined],
    ['', undefined],
    ['9'.repeat(400), undefined],
    [null, undefined],
  ])('reads %j as %s', (header, expected) => {
    expect(parseRetryAfter(header, NOW)).toBe(expected);
  });
});
