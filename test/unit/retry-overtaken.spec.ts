import { StaleSessionError, StoreUnavailableError } from '../../src/index.js';
import {
  pauseMs,
  retryOvertaken,
  retryUndefined,
  retryUnknown,
} from '../../src/sessions/domain/process/retry-overtaken.js';

/** Fails with these errors, one after the other, and succeeds with how often it was called. */
function failing(...errors: readonly Error[]): jest.Mock<Promise<number>, [number]> {
  return jest.fn(async (attempt: number) => {
    const error = errors[attempt - 1];
    if (error) throw error;
    return attempt;
  });
}

const STALE = new StaleSessionError(1, 2);
const LOST = new StoreUnavailableError('The answer was lost.', true);
const DOWN = new StoreUnavailableError('The store is down.', false);

describe('A write that others overtake', () => {
  it('is decided again, up to an end', async () => {
    await expect(retryOvertaken(failing(STALE, STALE))).resolves.toBe(3);
    await expect(retryUndefined(async (attempt) => (attempt < 3 ? undefined : attempt))).resolves.toBe(3);

    const late = jest.fn(async () => Promise.reject(STALE));
    await expect(retryOvertaken(late)).rejects.toBe(STALE);
    const never = jest.fn(async () => undefined);
    await expect(retryUndefined(never)).resolves.toBeUndefined();
    expect([late.mock.calls.length, never.mock.calls.length]).toEqual([60, 60]);
  });

  it('is not repeated after another error', async () => {
    const down = failing(STALE, DOWN);
    await expect(retryOvertaken(down)).rejects.toBe(DOWN);
    expect(down).toHaveBeenCalledTimes(2);
    await expect(retryUndefined(failing(STALE))).rejects.toBe(STALE);
  });

  it('waits for anything up to a pause that grows, so that those who met do not meet again', () => {
    expect([1, 2, 3, 60].map((attempt) => pauseMs(attempt, 1))).toEqual([4, 8, 16, 40]);
    expect([1, 60].map((attempt) => pauseMs(attempt, 0))).toEqual([0, 0]);
    expect([1, 60].map((attempt) => pauseMs(attempt, 0.5))).toEqual([2, 20]);
  });
});

describe('A write with an unknown outcome', () => {
  it('is sent again a few times', async () => {
    await expect(retryUnknown(failing(LOST, LOST, LOST))).resolves.toBe(4);
    await expect(retryUnknown(failing(LOST, LOST, LOST, LOST))).rejects.toBe(LOST);
  });

  it('is not sent again once its outcome is known', async () => {
    const down = failing(LOST, DOWN);
    await expect(retryUnknown(down)).rejects.toBe(DOWN);
    expect(down).toHaveBeenCalledTimes(2);
  });
});
