import { StreamAccess, StreamExpired } from '../../src/sessions/transport/stream-access.js';

const allowed = (): Promise<void> => Promise.resolve();

describe('the leave to read a stream', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('ends with the age of the stream', () => {
    const access = new StreamAccess(allowed, { maxAgeSeconds: 10, recheckSeconds: 0 });
    jest.advanceTimersByTime(9_999);
    expect(access.signal.aborted).toBe(false);
    jest.advanceTimersByTime(1);
    expect(access.signal.reason).toBeInstanceOf(StreamExpired);
  });

  it('is an hour, and is looked at every minute, unless something else is said', async () => {
    const recheck = jest.fn(allowed);
    const access = new StreamAccess(recheck);
    await jest.advanceTimersByTimeAsync(3_599_999);
    expect(recheck).toHaveBeenCalledTimes(59);
    expect(access.signal.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(access.signal.aborted).toBe(true);
  });

  it('ends with what the check says', async () => {
    const refusal = new Error('Not yours any more');
    let isAllowed = true;
    const access = new StreamAccess(() => (isAllowed ? allowed() : Promise.reject(refusal)), { recheckSeconds: 1 });
    await jest.advanceTimersByTimeAsync(5_500);
    expect(access.signal.aborted).toBe(false);
    isAllowed = false;
    await jest.advanceTimersByTimeAsync(500);
    expect(access.signal.reason).toBe(refusal);
  });

  it('is not asked for while an answer is awaited', async () => {
    const recheck = jest.fn(() => new Promise<void>(() => undefined));
    const access = new StreamAccess(recheck, { maxAgeSeconds: 0, recheckSeconds: 1 });
    await jest.advanceTimersByTimeAsync(10_000);
    expect(recheck).toHaveBeenCalledTimes(1);
    access.close();
  });

  it('leaves nothing behind when the stream is over, also if a check is under way', async () => {
    let answer: (() => void) | undefined;
    const access = new StreamAccess(() => new Promise<void>((resolve) => (answer = resolve)), { recheckSeconds: 1 });
    jest.advanceTimersByTime(1_000);
    access.close();
    answer?.();
    await jest.advanceTimersByTimeAsync(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('never ends by itself with zeros', () => {
    const access = new StreamAccess(allowed, { maxAgeSeconds: 0, recheckSeconds: 0 });
    expect(jest.getTimerCount()).toBe(0);
    expect(access.signal.aborted).toBe(false);
  });
});
