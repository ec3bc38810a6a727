import { SessionService } from '../../src/index.js';
import { SummarizerSessionManager } from '../../src/summarizer/index.js';
import { recordingCalls } from '../support/recorded-calls.js';
import { inMemory } from './in-memory.js';
import { KEY, SESSION, SummarizedSessions, agent, answer, call, turns } from './summarized-sessions.js';

const OPTIONS = { events: 5, keepRecentEvents: 2 };

describe('while a call is pending', () => {
  let open: SummarizedSessions;
  let calls: string[];
  let sessions: SessionService;
  let summaries: SummarizerSessionManager;

  beforeEach(async () => {
    open = await SummarizedSessions.open(inMemory, { autoSummarize: false });
    calls = [];
    const { clock, model } = open;
    const storage = recordingCalls(open.storage, calls);
    sessions = new SessionService({ storage, clock });
    summaries = new SummarizerSessionManager(
      { sessions, storage },
      { turns: 0, contentLength: 0, ...OPTIONS, model, clock },
    );
    await append(call('slow'), ...turns(1, 4));
    calls.length = 0;
  });

  afterEach(async () => {
    await summaries.close();
    await open.destroy();
  });

  async function append(...events: Parameters<typeof open.append>): Promise<void> {
    for (const event of events) {
      await sessions.appendEvent({ session: SESSION, event });
      await sessions.whenIdle();
      await summaries.whenIdle();
    }
  }

  const reads = () => calls.filter((name) => name !== 'append' && name !== 'agenda.put');

  it('appends cause no reads, until the response comes', async () => {
    await append(...turns(5, 14));
    expect(reads()).toEqual([]);
    await append(answer('slow'), ...turns(15, 16));
    expect(await summaries.getSessionSummary(KEY)).toBeDefined();
  });

  it('the session is checked less often the longer it is idle', async () => {
    let looks = 0;
    for (let minute = 0; minute < 60; minute++) {
      open.clock.advanceSeconds(60);
      looks += await summaries.sweep();
      await summaries.whenIdle();
    }
    // After 1, 2, 4 and 8 minutes, and every ten from then on.
    expect(looks).toBeGreaterThanOrEqual(8);
    expect(looks).toBeLessThanOrEqual(10);
    await append(answer('slow'), ...turns(5, 6));
    expect(await summaries.getSessionSummary(KEY)).toBeDefined();
  });

  it('the call stops being pending at the same event as without the cache', async () => {
    // Seq 1 is the call; it is awaited up to 100 events beyond it, not counting the newest two.
    const givenUpAt = 1 + 100 + OPTIONS.keepRecentEvents;
    for (let seq = 10; seq <= givenUpAt; seq++) {
      expect(open.model.requests).toHaveLength(0);
      await append(agent('on it'));
    }
    const direct = await SummarizedSessions.open(inMemory, { ...OPTIONS, autoSummarize: false });
    await direct.append(call('slow'), ...turns(1, 4));
    let seq = 9;
    while (!(await direct.summaries.createSessionSummary({ session: SESSION }))) {
      await direct.append(agent('on it'));
      seq++;
    }
    await direct.destroy();
    expect(seq).toBe(givenUpAt);
    expect(open.model.requests).not.toHaveLength(0);
  });

  it('a response that another process appended is seen with the next event', async () => {
    await open.append(answer('slow'));
    await append(agent('here it is'), agent('anything else?'));
    expect(await summaries.getSessionSummary(KEY)).toBeDefined();
  });

  it('a rewind, and a new session under the same id, cause a new read', async () => {
    await sessions.rewindSession({ ...KEY, toSeq: 9 });
    await append(agent('on it'));
    expect(reads()).toContain('leases.acquire');
    await sessions.deleteSession(KEY);
    await sessions.createSession(KEY);
    await append(...turns(1, 4));
    expect(await summaries.getSessionSummary(KEY)).toBeDefined();
  });
});
