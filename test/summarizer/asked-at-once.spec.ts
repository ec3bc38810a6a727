import { EventEmitter, once } from 'node:events';
import { ModelTurns } from '../../src/summarizer/model-turns.js';
import { inMemory } from './in-memory.js';
import { KEY, ScriptedModel, SummarizedSessions, turns } from './summarized-sessions.js';

const SESSIONS = 20;

describe('summaries that many ask for at once', () => {
  it('are written by as many models at a time as the settings say, in all', async () => {
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

describe('turns at a model', () => {
  it('go to who waits longest, and to nobody who gave up', async () => {
    const queue = new ModelTurns(1);
    const { signal } = new AbortController();
    const [impatient, begun]: [AbortController, string[]] = [new AbortController(), []];
    const ending = new EventEmitter();
    const first = queue.take(signal, () => once(ending, 'end'));
    const run = (name: string, by = signal) => queue.take(by, async () => void begun.push(name));
    const [second, third, fourth] = [run('second'), run('third', impatient.signal), run('fourth')];
    impatient.abort(new Error('too slow'));
    await expect(third).rejects.toThrow('too slow');
    await expect(run('fifth', impatient.signal)).rejects.toThrow('too slow');
    expect(begun).toEqual([]);
    ending.emit('end');
    await Promise.all([first, second, fourth]);
    expect(begun).toEqual(['second', 'fourth']);
  });

  it('are given back where the work fails', async () => {
    const queue = new ModelTurns(1);
    const { signal } = new AbortController();
    await expect(queue.take(signal, async () => Promise.reject(new Error('boom')))).rejects.toThrow('boom');
    expect(await queue.take(signal, async () => 'done')).toBe('done');
  });
});
