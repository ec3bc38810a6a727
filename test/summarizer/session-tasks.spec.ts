import { SessionTasks } from '../../src/summarizer/session-tasks.js';

const nothing = async (): Promise<void> => undefined;

describe('SessionTasks', () => {
  it('gives each task its own signal, and aborts all signals when the time limit of close has passed', async () => {
    const signals: AbortSignal[] = [];
    const work = (name: string) => async (signal: AbortSignal) => {
      signals.push(signal);
      if (name !== 'short') await new Promise((resolve) => signal.addEventListener('abort', resolve));
    };
    const tasks = new SessionTasks({ concurrency: 2, maxTasks: 10 });
    for (const name of ['short', 'one', 'two', 'left over']) tasks.wake(name, work(name));
    await new Promise((resolve) => setImmediate(resolve));
    expect(tasks.counts).toEqual({ waiting: 1, running: 2 });
    await tasks.close(5);
    expect(new Set(signals).size).toBe(3);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true, true]);
    expect(tasks.wake('late', work('late'))).toBe(false);
    expect(tasks.counts).toEqual({ waiting: 0, running: 0 });
  });

  it('runs a session once more if it is woken during its run', async () => {
    const tasks = new SessionTasks({ concurrency: 1, maxTasks: 10 });
    let runs = 0;
    const work = async (): Promise<void> => {
      if (++runs > 1) return;
      for (let times = 0; times < 3; times++) tasks.wake('one', work);
      expect(tasks.counts).toEqual({ waiting: 1, running: 1 });
    };
    tasks.wake('one', work);
    await tasks.whenIdle();
    expect(runs).toBe(2);
  });

  it('refuses tasks over the maximum, which stay on the agenda', async () => {
    const tasks = new SessionTasks({ concurrency: 1, maxTasks: 2 });
    expect(['one', 'two', 'three'].map((name) => tasks.wake(name, nothing))).toEqual([true, true, false]);
    await tasks.whenIdle();
    expect(tasks.wake('three', nothing)).toBe(true);
    await tasks.close(1_000);
  });
});
