import { SessionService } from '../../src/index.js';
import type { Lease } from '../../src/sessions/storage/coordination.js';
import { SummarizerSessionManager } from '../../src/summarizer/index.js';
import { leaseNameOf } from '../../src/summarizer/summary-agenda.js';
import { recordingCalls } from '../support/recorded-calls.js';
import { inMemory } from './in-memory.js';
import { KEY, SESSION, SummarizedSessions, agent, turns } from './summarized-sessions.js';

/** How long another process holds the lease, unless it releases it. */
const HELD_MS = 60 * 60_000;

describe('a due summary whose lease another process holds', () => {
  let open: SummarizedSessions;
  let calls: string[];
  let lease: Lease | undefined;
  let sessions: SessionService;
  let summaries: SummarizerSessionManager;

  beforeEach(async () => {
    jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'] });
    open = await SummarizedSessions.open(inMemory, { autoSummarize: false });
    calls = [];
    const { clock, model } = open;
    const storage = recordingCalls(open.storage, calls);
    sessions = new SessionService({ storage, clock });
    const options = { turns: 0, contentLength: 0, events: 3, keepRecentEvents: 2, concurrency: 1, model, clock };
    summaries = new SummarizerSessionManager({ sessions }, options);
    lease = await open.storage.leases.acquire({ name: leaseNameOf(KEY), holder: 'another', ttlMs: HELD_MS });
    await append(...turns(1, 2));
  });

  afterEach(async () => {
    jest.useRealTimers();
    await summaries.close();
    await open.destroy();
  });

  async function append(...events: Parameters<typeof open.append>): Promise<void> {
    for (const event of events) {
      await sessions.appendEvent({ session: SESSION, event });
      await summaries.whenIdle();
    }
  }

  async function release(): Promise<void> {
    if (lease) await open.storage.leases.release(lease);
  }

  const leaseRequests = () => calls.filter((name) => name === 'leases.acquire');

  it('is postponed: appends do not request the lease again', async () => {
    expect(leaseRequests()).toHaveLength(1);
    await append(...turns(3, 12));
    expect(leaseRequests()).toHaveLength(1);
    expect(summaries.counts).toEqual({ waiting: 0, running: 0, stored: 0, failed: 0 });
  });

  it('is retried by a later append', async () => {
    await release();
    open.clock.advanceSeconds(2);
    await append(agent('a3'));
    expect(await open.view()).toEqual(['= summary 1', 'q2', 'a2', 'a3']);
  });

  it('is retried without an append, until the lease ends', async () => {
    await jest.advanceTimersByTimeAsync(2_000);
    await summaries.whenIdle();
    expect(leaseRequests()).toHaveLength(2);
    await release();
    await jest.advanceTimersByTimeAsync(2_000);
    await summaries.whenIdle();
    expect(await open.view()).toEqual(['= summary 1', 'q2', 'a2']);
  });

  it('is not retried after the app has closed', async () => {
    await summaries.close();
    await jest.advanceTimersByTimeAsync(10_000);
    expect(leaseRequests()).toHaveLength(1);
    expect(jest.getTimerCount()).toBe(0);
  });
});
