import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { SummarizerSessionManager } from '../../src/summarizer/summarizer-session.manager.js';
import { KEY, SESSION, ScriptedModel, turns } from './summarized-sessions.js';

/** Trimming looks at every so many events. */
const MANY_TURNS = 100;

describe('summaries where history is not kept', () => {
  const storage = new InMemorySessionStorage();
  const sessions = new SessionService({ storage, history: { maxEvents: 50, keepHistory: false } });
  const model = new ScriptedModel();
  const summaries = new SummarizerSessionManager(
    { sessions, storage },
    { keepRecentEvents: 2, autoSummarize: false, model },
  );

  async function append(from: number, to: number): Promise<void> {
    for (const event of turns(from, to)) await sessions.appendEvent({ session: SESSION, event });
    await sessions.whenIdle();
  }

  it('what one in force stands for stays, and comes back; what left the view before is in none', async () => {
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
