import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { SummarizerSessionManager } from '../../src/summarizer/summarizer-session.manager.js';
import { KEY, SESSION, ScriptedModel, turns } from './summarized-sessions.js';

/** Enough turns to start trimming. */
const MANY_TURNS = 100;

describe('summaries with keepHistory: false', () => {
  const storage = new InMemorySessionStorage();
  const sessions = new SessionService({ storage, history: { maxEvents: 50, keepHistory: false } });
  const model = new ScriptedModel();
  const summaries = new SummarizerSessionManager({ sessions }, { keepRecentEvents: 2, autoSummarize: false, model });

  async function append(from: number, to: number): Promise<void> {
    for (const event of turns(from, to)) await sessions.appendEvent({ session: SESSION, event });
    await sessions.whenIdle();
  }

  it('keep the events of the current summary, which can be restored; events trimmed earlier are lost', async () => {
    await sessions.createSession(KEY);
    await append(1, MANY_TURNS);
    const { firstSeq } = await sessions.listEvents(KEY);
    expect(firstSeq).toBeGreaterThan(MANY_TURNS);
    const summary = await summaries.createSessionSummary({ session: SESSION, force: true });
    expect(summary).toMatchObject({ fromSeq: firstSeq, toSeq: 2 * MANY_TURNS - 2 });
    expect(model.requests[0]?.conversation).toHaveLength(2 * MANY_TURNS - 2 - firstSeq + 1);

    await append(MANY_TURNS + 1, 2 * MANY_TURNS);
    expect(await sessions.listEvents(KEY)).toMatchObject({ firstSeq });
    const session = await sessions.rewindSession({ ...KEY, toSeq: 2 * MANY_TURNS });
    expect(session.events.some(({ actions }) => actions.compaction)).toBe(false);
    expect(session.events.length).toBeGreaterThanOrEqual(50);
    await summaries.close();
  });
});

describe.each([{ maxEvents: 0 }, { maxEvents: 50 }, { maxEvents: 8 }])(
  'repeated summaries with keepHistory: false and maxEvents: $maxEvents',
  ({ maxEvents }) => {
    it('keep only the input of the last summary', async () => {
      const storage = new InMemorySessionStorage();
      const sessions = new SessionService({ storage, history: { maxEvents, keepHistory: false } });
      const model = new ScriptedModel();
      const summaries = new SummarizerSessionManager(
        { sessions },
        { events: 40, turns: 0, contentLength: 0, keepRecentEvents: 4, model },
      );
      await sessions.createSession(KEY);
      for (const event of turns(1, 300)) {
        await sessions.appendEvent({ session: SESSION, event });
        await summaries.whenIdle();
        await sessions.whenIdle();
      }
      const kept = await summaries.listSummaries(KEY);
      const [before, last] = kept.slice(-2);
      const { firstSeq, lastSeq } = await sessions.listEvents(KEY);
      // Two summaries of 40 events, the recent events, and the events since the last trim.
      expect(lastSeq - firstSeq).toBeLessThan(2 * 41 + 4 + 64);
      expect(kept.length).toBeLessThan(6);
      expect(model.requests.length).toBeGreaterThan(12);
      const session = await sessions.getSession(KEY);
      expect(session?.events[0]?.seq).toBe(last?.seq);

      const rewound = await sessions.rewindSession({ ...KEY, toSeq: (last?.seq ?? 0) - 1 });
      expect(rewound.events[0]?.seq).toBe(before?.seq);
      expect(rewound.events.at(-1)?.seq).toBe((last?.seq ?? 0) - 1);
      if (maxEvents !== 8) expect(rewound.events[1]?.seq).toBe((before?.toSeq ?? 0) + 1);
      await summaries.close();
    });
  },
);
