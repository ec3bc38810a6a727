import { withSummaryAsInstruction } from '../../src/summarizer/index.js';
import { inMemory } from './in-memory.js';
import { KEY, SummarizedSessions, turns } from './summarized-sessions.js';

describe('summary statistics', () => {
  let open: SummarizedSessions;
  afterEach(() => open.destroy());

  it('match the worked example', async () => {
    open = await SummarizedSessions.open(inMemory, { events: 9, keepRecentEvents: 4 });
    const figures = async (): Promise<unknown> => {
      const summary = await open.summaries.getSessionSummary(KEY);
      if (!summary) return undefined;
      const { seq, fromSeq, toSeq, originalEventCount, compressedEventCount, compressionRatio } = summary;
      const shown = (await open.sessions.getSession(KEY))?.events.length;
      return [seq, fromSeq, toSeq, originalEventCount, compressedEventCount, compressionRatio, shown];
    };
    for (const event of turns(1, 5)) {
      expect(await figures()).toBeUndefined();
      await open.append(event);
      await open.settle();
    }
    // The summary covers six of ten events, so five are left including the summary.
    expect(await figures()).toEqual([11, 1, 6, 10, 5, 50, 5]);
    await open.append(...turns(6, 7), ...turns(8, 8).slice(0, 1));
    await open.settle();
    expect(await figures()).toEqual([11, 1, 6, 10, 5, 50, 10]);
    // Event 17 is the tenth event after the previous summary. The newest four are 14 to 17, and event 14 is by the
    // user.
    await open.append(...turns(8, 8).slice(1));
    await open.settle();
    expect(await figures()).toEqual([18, 1, 13, 11, 5, (6 / 11) * 100, 5]);
  });

  it('can be given to models as instructions, with the text', async () => {
    open = await SummarizedSessions.open(inMemory, { events: 3, keepRecentEvents: 2 });
    await open.append(...turns(1, 2));
    await open.settle();
    const session = await open.sessions.getSession(KEY);
    const { system, events } = withSummaryAsInstruction(session ?? { events: [] }, 'Be kind.');
    expect(system).toBe('Be kind.\n\nSummary of the conversation so far:\nsummary 1');
    expect(events.map(({ seq }) => seq)).toEqual([3, 4]);
    expect(withSummaryAsInstruction({ events })).toEqual({ system: '', events });
  });
});
