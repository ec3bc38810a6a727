import { Logger } from '@nestjs/common';
import { SessionService } from '../../src/index.js';
import type { SessionStorage } from '../../src/sessions/storage/session-storage.js';
import { ManualClock } from '../../src/testing/index.js';
import { SummarizerSessionManager } from '../../src/summarizer/index.js';
import { describeRedis } from '../support/redis-servers.js';
import { redisUrl } from '../support/redis-store.js';
import { describeSqlServersWithTables } from '../support/sql-bench.js';
import { losingSummaryResponse } from '../support/summary-payload.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { KEY, SESSION, ScriptedModel, turns } from './summarized-sessions.js';

/** Long enough for calls on a busy machine. */
const LIMIT_MS = 2_000;
const ROUNDS = 5;
const TURNS = 4;

/** A store behind a proxy, and a direct connection to the same store. */
interface BehindProxy {
  readonly name: 'redis' | 'mariadb' | 'postgres';
  readonly proxy: TcpProxy;
  readonly behind: SessionStorage;
  readonly beside: SessionStorage;
}

describeRedis('summaries on a $name store with a faulty network', ['redis'], (bench) => {
  let proxy: TcpProxy;
  afterEach(() => proxy.stop());

  keepsSummariesOnce(async (clock) => {
    const { hostname, port } = new URL(redisUrl);
    proxy = await TcpProxy.start({ host: hostname, port: Number(port || 6379) });
    const url = new URL(redisUrl);
    url.host = `127.0.0.1:${proxy.port}`;
    const behind = bench().storage({ url: url.href, commandTimeoutMs: LIMIT_MS, clock });
    return { name: 'redis', proxy, behind, beside: bench().storage({ clock }) };
  });
});

describeSqlServersWithTables('summaries on a $name store with a faulty network', (bench) => {
  keepsSummariesOnce(async (clock) => {
    const { proxy, behind } = await bench().proxy();
    const beside = bench().storage({ clock });
    // Creating the tables takes longer than the time limit of a call.
    await beside.open();
    return { name: bench().name, proxy, behind: bench().storage({ ...behind, timeLimitMs: LIMIT_MS, clock }), beside };
  });
});

function keepsSummariesOnce(open: (clock: ManualClock) => Promise<BehindProxy>): void {
  let setup: BehindProxy;
  let clock: ManualClock;
  let sessions: SessionService;
  let beside: SessionService;
  let model: ScriptedModel;
  let summaries: SummarizerSessionManager;

  beforeEach(async () => {
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    clock = new ManualClock();
    setup = await open(clock);
    sessions = new SessionService({ storage: setup.behind, clock });
    beside = new SessionService({ storage: setup.beside, clock });
    model = new ScriptedModel();
    const options = { turns: 0, contentLength: 0, events: 7, keepRecentEvents: 0, model, clock };
    summaries = new SummarizerSessionManager({ sessions }, options);
    await beside.createSession(KEY);
  });

  afterEach(async () => {
    setup.proxy.filter = () => 'pass';
    await summaries.close();
    jest.restoreAllMocks();
  });

  async function summariesInLog(): Promise<string[]> {
    const { events } = await beside.listEvents({ ...KEY, limit: 1_000 });
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    return events.filter(({ actions }) => actions.compaction).map(({ id }) => id);
  }

  it(`are stored once if ${ROUNDS} acknowledgements of their appends are lost`, async () => {
    const stored: number[] = [];
    summaries.hooks.onStored((_key, { toSeq }) => void stored.push(toSeq));
    for (let round = 1; round <= ROUNDS; round++) {
      setup.proxy.filter = losingSummaryResponse(setup.name);
      const resets = jest.spyOn(setup.proxy, 'filter');
      for (const event of turns(round * TURNS + 1, round * TURNS + TURNS)) {
        await sessions.appendEvent({ session: SESSION, event });
      }
      await summaries.whenIdle();
      expect(resets.mock.results.map(({ value }) => value as unknown)).toContain('cut');
    }
    const boundaries = Array.from({ length: ROUNDS }, (_, index) => (index + 1) * (2 * TURNS + 1) - 1);
    expect(await summariesInLog()).toEqual(boundaries.map((toSeq) => `summary:${toSeq}`));
    expect(stored).toEqual(boundaries);
    expect(summaries.counts).toEqual({ running: 0, waiting: 0, stored: ROUNDS, failed: 0 });
    expect(model.requests).toHaveLength(ROUNDS);
  });

  it('do not call the model again if every acknowledgement is lost', async () => {
    const filter = losingSummaryResponse(setup.name);
    let isLost = false;
    setup.proxy.filter = (piece) => {
      if (isLost) return 'cut';
      const verdict = filter(piece);
      isLost = verdict === 'cut';
      return verdict;
    };
    for (const event of turns(1, TURNS)) await sessions.appendEvent({ session: SESSION, event });
    await summaries.whenIdle();
    expect(isLost).toBe(true);
    expect(summaries.counts).toMatchObject({ stored: 0 });
    expect(summaries.counts.failed).toBeGreaterThan(0);
    setup.proxy.filter = () => 'pass';
    clock.advanceSeconds(3_600);
    expect(await sweepWithRetries()).toBe(1);
    await summaries.whenIdle();
    expect(await summariesInLog()).toEqual([`summary:${2 * TURNS}`]);
    expect(model.requests).toHaveLength(1);
  });

  /** The first calls may use broken connections, so the sweep is repeated. */
  async function sweepWithRetries(): Promise<number> {
    for (let tries = 0; ; tries++) {
      try {
        return await summaries.sweep();
      } catch (error) {
        if (tries > 20) throw error;
        clock.advanceSeconds(61);
      }
    }
  }
}
