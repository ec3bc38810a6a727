import { SingleFlight } from '../../src/sessions/module/single-flight.js';

describe('work that runs once at a time', () => {
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

  it('is not begun again before it ends, and is then', async () => {
    const first = job.run();
    expect(await job.run()).toBeUndefined();
    finish('first');
    expect(await first).toBe('first');
    const second = job.run();
    finish('second');
    expect(await second).toBe('second');
    expect(signals).toHaveLength(2);
  });

  it('is told that it is stopped, and waited for', async () => {
    const running = job.run();
    let hasStopped = false;
    const stopping = job.stop().then(() => (hasStopped = true));
    await Promise.resolve();
    expect([signals[0]?.aborted, hasStopped]).toEqual([true, false]);
    finish('in the end');
    await stopping;
    expect(await running).toBe('in the end');
  });

  it('does not begin once it is stopped', async () => {
    await job.stop();
    expect(job.isStopped).toBe(true);
    expect(await job.run()).toBeUndefined();
    expect(signals).toEqual([]);
  });
});
