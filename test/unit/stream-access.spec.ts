import { StreamAccess, StreamExpired } from '../../src/sessions/transport/stream-access.js';

const allowed = (): Promise<void> => Promise.resolve();
const LONGER_THAN_ALL_MS = 2 * 3_600_000;

/** What `make` returns, and how many timers it started. Drivers of other specs may start timers before and after it. */
function timersDuring<Made>(make: () => Made): { readonly made: Made; readonly count: number } {
  const before = jest.getTimerCount();
  const made = make();
  return { made, count: jest.getTimerCount() - before };
}

describe('StreamAccess', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('ends at the maximum age of the stream', () => {
    const access = new StreamAccess(allowed, { maxAgeSeconds: 10, recheckSeconds: 0 });
    jest.advanceTimersByTime(9_999);
    expect(access.signal.aborted).toBe(false);
    jest.advanceTimersByTime(1);
    expect(access.signal.reason).toBeInstanceOf(StreamExpired);
  });

  it('lasts an hour and checks every minute by default', async () => {
    const recheck = jest.fn(allowed);
    const access = new StreamAccess(recheck);
    await jest.advanceTimersByTimeAsync(3_599_999);
    expect(recheck).toHaveBeenCalledTimes(59);
    expect(access.signal.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(access.signal.aborted).toBe(true);
  });

  it('ends with the error of a failed check', async () => {
    const refusal = new Error('Not yours any more');
    let isAllowed = true;
    const access = new StreamAccess(() => (isAllowed ? allowed() : Promise.reject(refusal)), { recheckSeconds: 1 });
    await jest.advanceTimersByTimeAsync(5_500);
    expect(access.signal.aborted).toBe(false);
    isAllowed = false;
    await jest.advanceTimersByTimeAsync(500);
    expect(access.signal.reason).toBe(refusal);
  });

  it('starts no check while another one is pending', async () => {
    const recheck = jest.fn(() => new Promise<void>(() => undefined));
    const access = new StreamAccess(recheck, { maxAgeSeconds: 0, recheckSeconds: 1 });
    await jest.advanceTimersByTimeAsync(10_000);
    expect(recheck).toHaveBeenCalledTimes(1);
    access.close();
  });

  it('leaves no timer after close, even if a check is pending', async () => {
    let answer: (() => void) | undefined;
    const recheck = jest.fn(() => new Promise<void>((resolve) => (answer = resolve)));
    const timers = timersDuring(() => new StreamAccess(recheck, { recheckSeconds: 1 }));
    await jest.advanceTimersByTimeAsync(1_000);
    timers.made.close();
    answer?.();
    await jest.advanceTimersByTimeAsync(LONGER_THAN_ALL_MS);
    expect(timers.count).toBe(2);
    expect(recheck).toHaveBeenCalledTimes(1);
    expect(timers.made.signal.aborted).toBe(false);
  });

  it('never ends if both limits are 0', () => {
    const { made: access, count } = timersDuring(
      () => new StreamAccess(allowed, { maxAgeSeconds: 0, recheckSeconds: 0 }),
    );
    expect(count).toBe(0);
    expect(access.signal.aborted).toBe(false);
  });
});
