import { hostname } from 'node:os';
import { InMemorySessionStorage, StoreUnavailableError, withLease } from '../../src/index.js';
import type { Lease, LeaseStore } from '../../src/storage.js';

const TTL_MS = 30_000;
const lostAnswer = new StoreUnavailableError('No answer.', true);

/** Work that runs until the test ends it. */
function pendingWork() {
  let end: (() => void) | undefined;
  const ended = new Promise<string>((resolve) => (end = () => resolve('done')));
  return { ended, end: () => end?.() };
}

describe('withLease', () => {
  let leases: LeaseStore;
  let renew: jest.SpyInstance;
  let release: jest.SpyInstance;
  const errors: unknown[] = [];
  const onError = (error: unknown): unknown => errors.push(error);
  const isFree = async (): Promise<boolean> => {
    const lease = await leases.acquire({ name: 'job', holder: 'other', ttlMs: TTL_MS });
    if (lease) await leases.release(lease);
    return lease !== undefined;
  };

  beforeEach(() => {
    jest.useFakeTimers();
    leases = new InMemorySessionStorage().leases;
    renew = jest.spyOn(leases, 'renew');
    release = jest.spyOn(leases, 'release');
    errors.length = 0;
  });

  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  /** Starts work under the lease and returns when it runs. */
  async function start() {
    const work = pendingWork();
    let signal: AbortSignal = AbortSignal.abort();
    const outcome = withLease({ leases, name: 'job', holder: 'one', ttlMs: TTL_MS, onError }, (held) => {
      signal = held.signal;
      return work.ended;
    });
    await jest.advanceTimersByTimeAsync(0);
    return { outcome, signal, end: work.end };
  }

  it('runs work exclusively and then releases the lease', async () => {
    const outcome = await withLease({ leases, name: 'job', ttlMs: TTL_MS }, async ({ token, signal }) => {
      expect(await isFree()).toBe(false);
      return { token, aborted: signal.aborted };
    });
    expect(outcome).toEqual({ ran: true, result: { token: expect.any(Number), aborted: false } });
    expect(await isFree()).toBe(true);
  });

  it('does not run if another holder has the lease', async () => {
    await leases.acquire({ name: 'job', holder: 'other', ttlMs: TTL_MS });
    const work = jest.fn();
    expect(await withLease({ leases, name: 'job', ttlMs: TTL_MS }, work)).toEqual({ ran: false });
    expect(work).not.toHaveBeenCalled();
    expect(release).not.toHaveBeenCalled();
  });

  it('uses the host name and process id as the default holder', async () => {
    const acquire = jest.spyOn(leases, 'acquire');
    await withLease({ leases, name: 'job', ttlMs: TTL_MS }, async () => undefined);
    expect(acquire).toHaveBeenCalledWith({ name: 'job', holder: `${hostname()}:${process.pid}`, ttlMs: TTL_MS });
  });

  it('gives each run a higher token than the previous one', async () => {
    const tokens: number[] = [];
    const note = async ({ token }: { token: number }): Promise<unknown> => tokens.push(token);
    for (let round = 0; round < 3; round++) await withLease({ leases, name: 'job', ttlMs: TTL_MS }, note);
    expect(new Set(tokens).size).toBe(3);
    expect(tokens).toEqual(tokens.toSorted((a, b) => a - b));
  });

  it('releases the lease and rethrows if the work rejects', async () => {
    const failing = withLease({ leases, name: 'job', ttlMs: TTL_MS }, async () => {
      throw new Error('work failed');
    });
    await expect(failing).rejects.toThrow('work failed');
    expect(await isFree()).toBe(true);
  });

  it('releases the lease if the work throws synchronously', async () => {
    const failing = withLease({ leases, name: 'job', ttlMs: TTL_MS }, () => {
      throw new Error('work failed');
    });
    await expect(failing).rejects.toThrow('work failed');
    expect(await isFree()).toBe(true);
  });

  it('renews the lease every third of its duration while the work runs', async () => {
    const { outcome, signal, end } = await start();
    await jest.advanceTimersByTimeAsync(TTL_MS / 3 - 1);
    expect(renew).toHaveBeenCalledTimes(0);
    await jest.advanceTimersByTimeAsync(1);
    expect(renew).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(10 * TTL_MS);
    expect(renew).toHaveBeenCalledTimes(31);
    expect(await isFree()).toBe(false);
    expect(signal.aborted).toBe(false);
    end();
    expect(await outcome).toEqual({ ran: true, result: 'done' });
    await jest.advanceTimersByTimeAsync(TTL_MS);
    expect(renew).toHaveBeenCalledTimes(31);
    expect(signal.aborted).toBe(false);
  });

  it('aborts the signal and stops renewing if the lease is lost', async () => {
    const { outcome, signal, end } = await start();
    renew.mockResolvedValueOnce(undefined);
    await jest.advanceTimersByTimeAsync(TTL_MS / 3);
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toMatchObject({ code: 'LEASE_LOST', leaseName: 'job' });
    await jest.advanceTimersByTimeAsync(TTL_MS);
    expect(renew).toHaveBeenCalledTimes(1);
    end();
    expect(await outcome).toEqual({ ran: true, result: 'done' });
  });

  it('rejects with the reason of the signal if the work throws it', async () => {
    renew.mockResolvedValueOnce(undefined);
    const outcome = withLease({ leases, name: 'job', ttlMs: TTL_MS }, ({ signal }) => {
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    });
    const refused = expect(outcome).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await jest.advanceTimersByTimeAsync(TTL_MS / 3);
    await refused;
  });

  it('keeps the lease if a renewal fails and the next one succeeds', async () => {
    const { outcome, signal, end } = await start();
    for (let round = 0; round < 5; round++) {
      renew.mockRejectedValueOnce(lostAnswer);
      await jest.advanceTimersByTimeAsync((2 * TTL_MS) / 3);
    }
    expect(errors).toEqual(Array.from({ length: 5 }, () => lostAnswer));
    expect(await isFree()).toBe(false);
    expect(signal.aborted).toBe(false);
    end();
    expect(await outcome).toMatchObject({ ran: true });
    expect(await isFree()).toBe(true);
  });

  it('measures the lease from the start of a renewal, not from its response', async () => {
    const { outcome, signal, end } = await start();
    renew.mockRejectedValue(lostAnswer).mockImplementationOnce(async (lease: Lease) => {
      await new Promise((resolve) => setTimeout(resolve, TTL_MS / 6));
      return lease;
    });
    await jest.advanceTimersByTimeAsync(TTL_MS / 3 + TTL_MS - 1);
    expect(signal.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(signal.aborted).toBe(true);
    end();
    await outcome;
  });

  it('aborts the signal in time if the store never responds', async () => {
    const { outcome, signal, end } = await start();
    renew.mockReturnValue(new Promise(() => undefined));
    await jest.advanceTimersByTimeAsync(TTL_MS - 1);
    expect(signal.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(signal.aborted).toBe(true);
    end();
    await outcome;
  });

  it('counts the time it took to acquire the lease', async () => {
    const acquire = leases.acquire.bind(leases);
    jest.spyOn(leases, 'acquire').mockImplementationOnce(async (request) => {
      const lease = await acquire(request);
      await new Promise((resolve) => setTimeout(resolve, 20_000));
      return lease;
    });
    renew.mockRejectedValue(lostAnswer);
    const work = pendingWork();
    let signal: AbortSignal | undefined;
    const outcome = withLease({ leases, name: 'job', ttlMs: TTL_MS }, (held) => {
      signal = held.signal;
      return work.ended;
    });
    await jest.advanceTimersByTimeAsync(TTL_MS - 1);
    expect(signal?.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(signal?.aborted).toBe(true);
    work.end();
    await outcome;
  });

  it('ends during a pending renewal and ignores its outcome', async () => {
    const { outcome, signal, end } = await start();
    let answer: ((lease: undefined) => void) | undefined;
    renew.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
    await jest.advanceTimersByTimeAsync(TTL_MS / 3);
    end();
    expect(await outcome).toMatchObject({ ran: true });
    answer?.(undefined);
    await jest.advanceTimersByTimeAsync(TTL_MS);
    expect(signal.aborted).toBe(false);
    expect(renew).toHaveBeenCalledTimes(1);
  });

  it('returns the result of the work even if the release fails', async () => {
    release.mockRejectedValueOnce(lostAnswer);
    const outcome = await withLease({ leases, name: 'job', ttlMs: TTL_MS, onError }, async () => 'done');
    expect(outcome).toEqual({ ran: true, result: 'done' });
    expect(errors).toEqual([lostAnswer]);
  });

  it('rejects with the error of the store if the lease cannot be acquired', async () => {
    jest.spyOn(leases, 'acquire').mockRejectedValueOnce(lostAnswer);
    const work = jest.fn();
    await expect(withLease({ leases, name: 'job', ttlMs: TTL_MS }, work)).rejects.toBe(lostAnswer);
    expect(work).not.toHaveBeenCalled();
  });
});
