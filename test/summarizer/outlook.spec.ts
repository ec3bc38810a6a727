import type { EventInput } from '../../src/index.js';
import { anyOf, allOf, eventsOver, tokensOver } from '../../src/summarizer/index.js';
import { MEASURES } from '../../src/summarizer/summary-outlook.js';
import { inMemory } from './in-memory.js';
import { KEY, SESSION, SummarizedSessions, turns } from './summarized-sessions.js';
import { SAMPLES } from './threshold-samples.js';

function says(text: string, branch?: string): EventInput {
  return { author: 'agent', branch, content: { parts: [{ text }] } };
}

describe('The outlook on the next summary', () => {
  let open: SummarizedSessions;
  afterEach(() => open.destroy());

  it.each(MEASURES)('says how far %s is', async (kind) => {
    const { limit, reach, exceed } = SAMPLES[kind];
    open = await SummarizedSessions.open(inMemory, { [kind]: limit, autoSummarize: false, keepRecentEvents: 0 });
    await reach(open);
    const thresholds = [{ kind, value: limit, limit, isMet: false }];
    expect(await open.summaries.outlook(KEY)).toMatchObject({ isDue: false, thresholds });
    await exceed(open);
    const met = await open.summaries.outlook(KEY);
    expect(met).toMatchObject({ isDue: true, thresholds: [{ kind, limit, isMet: true }] });
    expect(met.thresholds[0]?.value).toBeGreaterThan(limit);
  });

  it('has all thresholds of the settings, also with fewer events than stay', async () => {
    const limits = Object.fromEntries(MEASURES.map((kind) => [kind, 1]));
    open = await SummarizedSessions.open(inMemory, { ...limits, keepRecentEvents: 2 });
    await open.append(...turns(1, 1));
    const { isDue, thresholds } = await open.summaries.outlook(KEY);
    expect(isDue).toBe(false);
    expect(thresholds.map(({ kind }) => kind)).toEqual(MEASURES);
    expect(thresholds[1]).toEqual({ kind: 'events', value: 2, limit: 1, isMet: true });
  });

  it('looks into combined thresholds, and asks conditions in code', async () => {
    const asked: number[] = [];
    const custom = async ({ since }: { readonly since: { readonly events: number } }): Promise<boolean> => {
      asked.push(since.events);
      return true;
    };
    const when = anyOf(eventsOver(9), allOf(tokensOver(5), custom));
    open = await SummarizedSessions.open(inMemory, { when, autoSummarize: false, keepRecentEvents: 1 });
    await open.append(...turns(1, 2));
    const { isDue, thresholds } = await open.summaries.outlook(KEY);
    expect(isDue).toBe(false);
    expect(thresholds).toEqual([
      { kind: 'events', value: 4, limit: 9, isMet: false },
      { kind: 'tokens', value: 0, limit: 5, isMet: false },
      { kind: 'custom', isMet: true },
    ]);
    expect(asked).toEqual([4]);
  });

  it('counts from the last summary, and covers what a summary then covers', async () => {
    open = await SummarizedSessions.open(inMemory, { events: 5, autoSummarize: false, keepRecentEvents: 2 });
    for (const last of [4, 8]) {
      await open.append(...turns(last - 3, last));
      const { isDue, wouldCover, thresholds } = await open.summaries.outlook(KEY);
      expect({ isDue, value: thresholds[0]?.value }).toEqual({ isDue: true, value: last === 4 ? 8 : 10 });
      const summary = await open.summaries.createSessionSummary({ session: SESSION });
      expect(wouldCover).toMatchObject({ fromSeq: summary?.fromSeq, toSeq: summary?.toSeq });
    }
    expect(await open.summaries.outlook(KEY)).toEqual({
      isDue: false,
      thresholds: [{ kind: 'events', value: 2, limit: 5, isMet: false }],
    });
    expect(open.model.requests).toHaveLength(2);
  });

  it('covers nothing where no event has text, of which no summary is written', async () => {
    open = await SummarizedSessions.open(inMemory, { events: 3, autoSummarize: false, keepRecentEvents: 1 });
    const states = Array.from({ length: 8 }, (_, step) => ({ author: 'system', actions: { stateDelta: { step } } }));
    await open.append(...states);
    expect(await open.summaries.outlook(KEY)).not.toHaveProperty('wouldCover');
    expect(await open.summaries.createSessionSummary({ session: SESSION, force: true })).toBeUndefined();
    expect(open.model.requests).toHaveLength(0);
  });

  it('says of a branch how far it is, by its own events too, and what its summary then covers', async () => {
    const branch = 'root.writer';
    open = await SummarizedSessions.open(inMemory, {
      events: 9,
      branchEvents: 2,
      autoSummarize: false,
      keepRecentEvents: 1,
    });
    await open.append(says('w1', branch), says('r2', 'root.researcher'), says('all'), says('w4', branch));
    const events = { kind: 'events', value: 3, limit: 9, isMet: false };
    expect(await open.summaries.outlook({ ...KEY, branch })).toEqual({
      isDue: false,
      thresholds: [events, { kind: 'branchEvents', value: 2, limit: 2, isMet: false }],
      wouldCover: { fromSeq: 1, toSeq: 3, events: 2 },
    });
    await open.append(says('w5', branch));
    const { isDue, wouldCover, thresholds } = await open.summaries.outlook({ ...KEY, branch });
    expect({ isDue, own: thresholds[1] }).toEqual({
      isDue: true,
      own: { kind: 'branchEvents', value: 3, limit: 2, isMet: true },
    });
    const summary = await open.summaries.createSessionSummary({ session: SESSION, branch });
    expect(wouldCover).toMatchObject({ fromSeq: summary?.fromSeq, toSeq: summary?.toSeq });
    expect(await open.summaries.outlook({ ...KEY, branch })).toEqual({
      isDue: false,
      thresholds: [
        { ...events, value: 1 },
        { kind: 'branchEvents', value: 1, limit: 2, isMet: false },
      ],
    });
    const misspelled = { ...KEY, brnch: branch };
    await expect(open.summaries.outlook(misspelled)).rejects.toThrow('did you mean branch?');
  });

  it('needs a session', async () => {
    open = await SummarizedSessions.open(inMemory);
    const missing = open.summaries.outlook({ ...KEY, sessionId: 'none' });
    await expect(missing).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    const ofBranch = open.summaries.outlook({ ...KEY, sessionId: 'none', branch: 'root' });
    await expect(ofBranch).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });
});
