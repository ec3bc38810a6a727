import { SessionService } from '../../src/index.js';
import { SummarizerSessionManager } from '../../src/summarizer/index.js';
import { recordingCalls } from '../support/recorded-calls.js';
import { inMemory } from './in-memory.js';
import { KEY, SESSION, SummarizedSessions, agent, answer, call, turns } from './summarized-sessions.js';

const OPTIONS = { events: 5, keepRecentEvents: 2 };

describe('a pending tool call', () => {
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
    summaries = new SummarizerSessionManager({ sessions }, { turns: 0, contentLength: 0, ...OPTIONS, model, clock });
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

  it('causes no reads on appends until the response is appended', async () => {
    await append(...turns(5, 14));
    expect(reads()).toEqual([]);
    await append(answer('slow'), ...turns(15, 16));
    expect(await summaries.getSessionSummary(KEY)).toBeDefined();
  });

  it('makes sweeps check the session less often the longer it is idle', async () => {
    let checks = 0;
    for (let minute = 0; minute < 60; minute++) {
      open.clock.advanceSeconds(60);
      checks += await summaries.sweep();
      await summaries.whenIdle();
    }
    // After 1, 2, 4 and 8 minutes, and then every ten minutes.
    expect(checks).toBeGreaterThanOrEqual(8);
    expect(checks).toBeLessThanOrEqual(10);
    await append(answer('slow'), ...turns(5, 6));
    expect(await summaries.getSessionSummary(KEY)).toBeDefined();
  });

  it('stops being pending at the same event with and without the cache', async () => {
    // Seq 1 is the call. It is pending for up to 100 events after it, not counting the newest two.
    const timeoutSeq = 1 + 100 + OPTIONS.keepRecentEvents;
    for (let seq = 10; seq <= timeoutSeq; seq++) {
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
    expect(seq).toBe(timeoutSeq);
    expect(open.model.requests).not.toHaveLength(0);
  });

  it('is no longer pending at the next event after another process has appended the response', async () => {
    await open.append(answer('slow'));
    await append(agent('here it is'), agent('anything else?'));
    expect(await summaries.getSessionSummary(KEY)).toBeDefined();
  });

  it('is read again after a rewind, and in a new session with the same id', async () => {
    await sessions.rewindSession({ ...KEY, toSeq: 9 });
    await append(agent('on it'));
    expect(reads()).toContain('leases.acquire');
    await sessions.deleteSession(KEY);
    await sessions.createSession(KEY);
    await append(...turns(1, 4));
    expect(await summaries.getSessionSummary(KEY)).toBeDefined();
  });
});
