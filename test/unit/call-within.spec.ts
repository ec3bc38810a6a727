import { getEventListeners } from 'node:events';
import { callWithin } from '../../src/sessions/domain/process/timeouts.js';

const boom = (): never => {
  throw new Error('boom');
};
const never = async (): Promise<never> => new Promise<never>(() => undefined);

describe('callWithin', () => {
  it('returns the result of synchronous and asynchronous work', async () => {
    await expect(callWithin({ limitMs: 1_000 }, () => 1)).resolves.toBe(1);
    await expect(callWithin({ limitMs: 1_000 }, async () => 2)).resolves.toBe(2);
  });

  it('rejects with the error of the work', async () => {
    await expect(callWithin({ limitMs: 1_000 }, boom)).rejects.toThrow('boom');
    await expect(callWithin({ limitMs: 1_000 }, async () => boom())).rejects.toThrow('boom');
  });

  it('rejects on timeout and aborts the signal of the work', async () => {
    let received: AbortSignal | undefined;
    const ended = callWithin({ limitMs: 5 }, async (signal) => {
      received = signal;
      return never();
    });
    await expect(ended).rejects.toThrow('no answer within 5 ms');
    expect(received?.aborted).toBe(true);
  });

  it('rejects with the reason of an aborted outer signal, and does not start the work if it is aborted before', async () => {
    const outer = new AbortController();
    const ended = callWithin({ limitMs: 60_000, signal: outer.signal }, never);
    outer.abort(new Error('closing'));
    await expect(ended).rejects.toThrow('closing');
    const work = jest.fn();
    await expect(callWithin({ limitMs: 60_000, signal: outer.signal }, work)).rejects.toThrow('closing');
    expect(work).not.toHaveBeenCalled();
  });

  it('leaves no listener on a longer-lived signal', async () => {
    const { signal } = new AbortController();
    await callWithin({ limitMs: 60_000, signal }, () => 1);
    await expect(callWithin({ limitMs: 1, signal }, never)).rejects.toThrow('no answer');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
