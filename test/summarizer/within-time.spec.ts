import { getEventListeners } from 'node:events';
import { withinTime } from '../../src/summarizer/models/calls/within-time.js';

const boom = (): never => {
  throw new Error('boom');
};
const never = async (): Promise<never> => new Promise<never>(() => undefined);

describe('work within a time', () => {
  it('is what it comes to, whether at once or later', async () => {
    await expect(withinTime({ limitMs: 1_000 }, () => 1)).resolves.toBe(1);
    await expect(withinTime({ limitMs: 1_000 }, async () => 2)).resolves.toBe(2);
  });

  it('fails as the work does', async () => {
    await expect(withinTime({ limitMs: 1_000 }, boom)).rejects.toThrow('boom');
    await expect(withinTime({ limitMs: 1_000 }, async () => boom())).rejects.toThrow('boom');
  });

  it('ends when the time is up, and tells the work', async () => {
    let told: AbortSignal | undefined;
    const ended = withinTime({ limitMs: 5 }, async (signal) => {
      told = signal;
      return never();
    });
    await expect(ended).rejects.toThrow('no answer within 5 ms');
    expect(told?.aborted).toBe(true);
  });

  it('ends early for the reason of its signal, and is not begun where that is aborted already', async () => {
    const outer = new AbortController();
    const ended = withinTime({ limitMs: 60_000, signal: outer.signal }, never);
    outer.abort(new Error('closing'));
    await expect(ended).rejects.toThrow('closing');
    const work = jest.fn();
    await expect(withinTime({ limitMs: 60_000, signal: outer.signal }, work)).rejects.toThrow('closing');
    expect(work).not.toHaveBeenCalled();
  });

  it('leaves no listener at a signal that lives longer', async () => {
    const { signal } = new AbortController();
    await withinTime({ limitMs: 60_000, signal }, () => 1);
    await expect(withinTime({ limitMs: 1, signal }, never)).rejects.toThrow('no answer');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
