import { SingleFlight } from '../../src/sessions/module/scheduled-work.js';

describe('SingleFlight', () => {
  let finish: (result: string) => void;
  let signals: AbortSignal[];
  let job: SingleFlight<string>;

  beforeEach(() => {
    signals = [];
    job = new SingleFlight((stopping) => {
      signals.push(stopping);
      return new Promise((resolve) => (finish = resolve));
    });
  });

  it('starts a run only when the previous one has ended', async () => {
    const first = job.run();
    expect(await job.run()).toBeUndefined();
    finish('first');
    expect(await first).toBe('first');
    const second = job.run();
    finish('second');
    expect(await second).toBe('second');
    expect(signals).toHaveLength(2);
  });

  it('signals a stop to the run and waits for its end', async () => {
    const running = job.run();
    let hasStopped = false;
    const stopping = job.stop().then(() => (hasStopped = true));
    await Promise.resolve();
    expect([signals[0]?.aborted, hasStopped]).toEqual([true, false]);
    finish('in the end');
    await stopping;
    expect(await running).toBe('in the end');
  });

  it('starts no run after a stop', async () => {
    await job.stop();
    expect(job.isStopped).toBe(true);
    expect(await job.run()).toBeUndefined();
    expect(signals).toEqual([]);
  });
});
