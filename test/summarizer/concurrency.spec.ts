import { EventEmitter, once } from 'node:events';
import { Semaphore } from '../../src/sessions/storage/semaphore.js';
import { inMemory } from './in-memory.js';
import { KEY, ScriptedModel, SummarizedSessions, turns } from './summarized-sessions.js';

const SESSIONS = 20;

describe('many concurrent requests for summaries', () => {
  it('call the model at most `concurrency` times at once, together with automatic summaries', async () => {
    let [working, maxWorking] = [0, 0];
    const model = new ScriptedModel(async () => {
      maxWorking = Math.max(maxWorking, ++working);
      await new Promise((resolve) => setImmediate(resolve));
      working--;
      return { text: 'in short' };
    });
    const open = await SummarizedSessions.open(inMemory, { events: 3, keepRecentEvents: 0, concurrency: 2 }, model);
    const requested: Promise<unknown>[] = [];
    for (let number = 0; number < SESSIONS; number++) {
      const session = await open.sessions.createSession({ ...KEY, sessionId: `requested-${number}` });
      // Half of them are also due for an automatic summary.
      for (const event of turns(1, 1 + (number % 2))) await open.sessions.appendEvent({ session, event });
      requested.push(open.summaries.createSessionSummary({ session, force: true }));
    }
    await Promise.all(requested);
    await open.settle();
    expect(model.requests).toHaveLength(SESSIONS);
    expect(maxWorking).toBe(2);
    await open.destroy();
  });
});

describe('Semaphore', () => {
  it('gives its permit to the longest-waiting task that was not aborted', async () => {
    const semaphore = new Semaphore(1);
    const { signal } = new AbortController();
    const [aborted, started]: [AbortController, string[]] = [new AbortController(), []];
    const ending = new EventEmitter();
    const first = semaphore.run(() => once(ending, 'end'), signal);
    const run = (name: string, by = signal) => semaphore.run(async () => void started.push(name), by);
    const [second, third, fourth] = [run('second'), run('third', aborted.signal), run('fourth')];
    aborted.abort(new Error('too slow'));
    await expect(third).rejects.toThrow('too slow');
    await expect(run('fifth', aborted.signal)).rejects.toThrow('too slow');
    expect(started).toEqual([]);
    ending.emit('end');
    await Promise.all([first, second, fourth]);
    expect(started).toEqual(['second', 'fourth']);
  });

  it('returns the permit if the work fails', async () => {
    const semaphore = new Semaphore(1);
    const { signal } = new AbortController();
    await expect(semaphore.run(async () => Promise.reject(new Error('boom')), signal)).rejects.toThrow('boom');
    expect(await semaphore.run(async () => 'done', signal)).toBe('done');
  });
});
