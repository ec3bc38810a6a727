import { LatestWork } from '../../src/sessions/domain/process/latest-work.js';

describe('work on the latest value of a key', () => {
  it('skips what came while it ran, except for the last', async () => {
    const work = new LatestWork<number>();
    const done: string[] = [];
    const run = (key: string, value: number) =>
      work.run(key, value, async (latest) => {
        await Promise.resolve();
        done.push(`${key}${latest}`);
      });
    await Promise.all([run('a', 1), run('a', 2), run('b', 1), run('a', 3)]);
    await run('a', 4);
    expect(done.toSorted()).toEqual(['a1', 'a3', 'a4', 'b1']);
  });

  it('ends with a failure, and begins again', async () => {
    const work = new LatestWork<string>();
    const failing = work.run('a', 'x', () => Promise.reject(new Error('full')));
    await work.run('a', 'y', () => Promise.reject(new Error('not reached')));
    await expect(failing).rejects.toThrow('full');
    const done: string[] = [];
    await work.run('a', 'z', async (latest) => void done.push(latest));
    expect(done).toEqual(['z']);
  });
});
