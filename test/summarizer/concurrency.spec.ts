import { EventEmitter, once } from 'node:events';
import { Semaphore } from '../../src/sessions/storage/semaphore.js';
import { inMemory } from './in-memory.js';
import { KEY, ScriptedModel, SummarizedSessions, turns } from './summarized-sessions.js';

const SESSIONS = 20;

describe('many requests for summaries at once', () => {
  it('call the model at most `concurrency` times at once, automatic summaries included', async () => {
    let [working, mostWorking] = [0, 0];
    const model = new ScriptedModel(async () => {
      mostWorking = Math.max(mostWorking, ++working);
      await new Promise((resolve) => setImmediate(resolve));
      working--;
      return { text: 'in short' };
    });
    const open = await SummarizedSessions.open(inMemory, { events: 3, keepRecentEvents: 0, concurrency: 2 }, model);
    const asked: Promise<unknown>[] = [];
    for (let number = 0; number < SESSIONS; number++) {
      const session = await open.sessions.createSession({ ...KEY, sessionId: `asked-${number}` });
      // Half of them are due by themselves as well.
      for (const event of turns(1, 1 + (number % 2))) await open.sessions.appendEvent({ session, event });
      asked.push(open.summaries.createSessionSummary({ session, force: true }));
    }
    await Promise.all(asked);
    await open.settle();
    expect(model.requests).toHaveLength(SESSIONS);
    expect(mostWorking).toBe(2);
    await open.destroy();
  });
});

describe('a semaphore', () => {
  it('gives its permit to the task that has waited longest, and to none that was aborted', async () => {
    const semaphore = new Semaphore(1);
    const { signal } = new AbortController();
    const [impatient, begun]: [AbortController, string[]] = [new AbortController(), []];
    const ending = new EventEmitter();
    const first = semaphore.run(() => once(ending, 'end'), signal);
    const run = (name: string, by = signal) => semaphore.run(async () => void begun.push(name), by);
    const [second, third, fourth] = [run('second'), run('third', impatient.signal), run('fourth')];
    impatient.abort(new Error('too slow'));
    await expect(third).rejects.toThrow('too slow');
    await expect(run('fifth', impatient.signal)).rejects.toThrow('too slow');
    expect(begun).toEqual([]);
    ending.emit('end');
    await Promise.all([first, second, fourth]);
    expect(begun).toEqual(['second', 'fourth']);
  });

  it('gets its permit back if the work fails', async () => {
    const semaphore = new Semaphore(1);
    const { signal } = new AbortController();
    await expect(semaphore.run(async () => Promise.reject(new Error('boom')), signal)).rejects.toThrow('boom');
    expect(await semaphore.run(async () => 'done', signal)).toBe('done');
  });
});
