import { SummaryQueue } from '../../src/summarizer/summary-queue.js';

describe('summaries that wait for their turn', () => {
  it('each have a signal of their own, which all fire when time is up', async () => {
    const signals: AbortSignal[] = [];
    const run = async (name: string, signal: AbortSignal): Promise<void> => {
      signals.push(signal);
      if (name !== 'short') await new Promise((resolve) => signal.addEventListener('abort', resolve));
    };
    const queue = new SummaryQueue({ concurrency: 2, mostWaiting: 10, run });
    for (const name of ['short', 'one', 'two', 'left over']) queue.add(name);
    await new Promise((resolve) => setImmediate(resolve));
    expect(queue.counts).toEqual({ waiting: 1, running: 2 });
    await queue.close(5);
    expect(new Set(signals).size).toBe(3);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true, true]);
    expect(queue.add('late')).toBe(false);
    expect(queue.counts).toEqual({ waiting: 0, running: 0 });
  });
});
