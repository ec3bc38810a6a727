import { Logger } from '@nestjs/common';
import type { SummarizerOptions } from '../../src/summarizer/summarizer-options.js';
import { firstStore, storeOfEachKind } from '../support/stores.js';
import { HeldModel } from './held-model.js';
import { inMemory } from './in-memory.js';
import { KEY, SESSION, ScriptedModel, SummarizedSessions, turns } from './summarized-sessions.js';

const OPTIONS: SummarizerOptions = { events: 7, keepRecentEvents: 2 };
const STEP_SECONDS = 60;
const STEPS_OF_AN_HOUR = 3_600 / STEP_SECONDS;

describe('summaries while the model is unavailable for an hour', () => {
  let open: SummarizedSessions;
  let warnings: string[];

  beforeEach(() => {
    warnings = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((message: string) => void warnings.push(message));
  });

  afterEach(async () => {
    await open.destroy();
    jest.restoreAllMocks();
  });

  /** Each step appends a turn and sweeps. */
  async function appendAndSweep(target: SummarizedSessions, steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) {
      await target.append(...turns(100 + step, 100 + step));
      await target.summaries.sweep();
      await target.settle();
      open.clock.advanceSeconds(STEP_SECONDS);
    }
  }

  /** The log is complete, and the summary covers all but the newest events. */
  async function expectRecovered(target: SummarizedSessions): Promise<void> {
    const log = await open.log();
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    const summaries = log.filter(({ actions }) => actions.compaction);
    expect(summaries).toHaveLength(1);
    expect(summaries[0]?.actions.compaction).toMatchObject({ fromSeq: 1 });
    expect((await open.view())[0]).toBe('= back');
    expect(target.summaries.counts).toMatchObject({ running: 0, waiting: 0, stored: 1 });
  }

  it.each(firstStore)('are retried with backoff, fail no append, and catch up afterwards, on $name', async (store) => {
    open = await SummarizedSessions.open(store, OPTIONS, new ScriptedModel(unavailable));
    await open.append(...turns(1, 4));
    await appendAndSweep(open, STEPS_OF_AN_HOUR);
    const calls = open.model.requests.length;
    expect(calls).toBeGreaterThan(4);
    expect(calls).toBeLessThanOrEqual(12);
    expect(warnings).toEqual(
      Array.from({ length: calls }, (_, index) =>
        expect.stringMatching(new RegExp(`^No summary of session "one", try ${index + 2} in \\d+ s: .*is away`)),
      ),
    );
    expect(open.summaries.counts).toMatchObject({ stored: 0, failed: calls });
    expect(await open.log()).toHaveLength(8 + 2 * STEPS_OF_AN_HOUR);

    open.model.reply = async () => ({ text: 'back' });
    open.clock.advanceSeconds(1_800);
    await open.summaries.sweep();
    await open.settle();
    await expectRecovered(open);
    expect(await open.view()).toHaveLength(1 + 2);
    expect(open.model.requests).toHaveLength(calls + 1);
  });

  it.each(storeOfEachKind)('are not retried more often after a restart, and stay due, on $name', async (store) => {
    open = await SummarizedSessions.open(store, OPTIONS, new ScriptedModel(unavailable));
    await open.append(...turns(1, 4));
    await appendAndSweep(open, STEPS_OF_AN_HOUR / 2);
    await open.summaries.close();
    const again = open.restarted(OPTIONS);
    await appendAndSweep(again, STEPS_OF_AN_HOUR / 2);
    expect(open.model.requests.length).toBeLessThanOrEqual(2 * 8);
    await again.summaries.close();

    open.model.reply = async () => ({ text: 'back' });
    const last = open.restarted(OPTIONS);
    open.clock.advanceSeconds(1_800);
    expect(await last.summaries.sweep()).toBe(1);
    await last.settle();
    await expectRecovered(last);
    await last.destroy();
    await again.destroy();
  });
});

describe('a failing model', () => {
  it('causes one log line and one counted failure, for automatic and requested summaries', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    const model = new ScriptedModel(async () => {
      throw new Error(`it is away\n[Nest] ERROR it is not\u001B[31m ${'and '.repeat(1_000)}`);
    });
    const open = await SummarizedSessions.open(inMemory, OPTIONS, model);
    await open.append(...turns(1, 4));
    await open.settle();
    expect(warn).toHaveBeenCalledTimes(1);
    const [line] = warn.mock.calls[0] as [string];
    expect(line).toMatch(
      /^No summary of session "one", try 2 in \d+ s: .*it is away \[Nest\] ERROR it is not \[31m and/,
    );
    expect(line).not.toMatch(/\p{Cc}/u);
    expect(line.length).toBeLessThan(600);
    await expect(open.summaries.createSessionSummary({ session: SESSION, force: true })).rejects.toThrow('is away');
    expect(open.summaries.counts).toMatchObject({ stored: 0, failed: 2 });
    await open.destroy();
    warn.mockRestore();
  });

  it('does not delay the summary of a new session with the id of a deleted one', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    const open = await SummarizedSessions.open(inMemory, OPTIONS, new ScriptedModel(unavailable));
    await open.append(...turns(1, 4));
    await open.settle();
    await open.sessions.deleteSession(KEY);
    await open.sessions.createSession(KEY);
    open.model.reply = async () => ({ text: 'back' });
    await open.append(...turns(1, 4));
    await open.settle();
    expect(await open.view()).toEqual(['= back', 'q4', 'a4']);
    await open.destroy();
    warn.mockRestore();
  });

  it('is not called again at once because of events appended during the call', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    const [memory] = firstStore;
    if (!memory) throw new Error('STORES must name a store');
    const model = new HeldModel();
    const open = await SummarizedSessions.open(memory, OPTIONS, model);
    await open.append(...turns(1, 4));
    await model.called(1);
    await open.append(...turns(5, 5));
    expect(open.summaries.counts).toMatchObject({ running: 1, waiting: 1 });
    model.fail(new Error('it is away'));
    await open.settle();
    expect(model.requests).toHaveLength(1);
    expect(warn).toHaveBeenCalledTimes(1);
    await open.destroy();
    warn.mockRestore();
  });
});

describe('a failing agenda', () => {
  it.each<[string, () => Promise<void>]>([
    ['rejects', async () => Promise.reject(new Error('no agenda'))],
    [
      'throws',
      () => {
        throw new Error('no agenda');
      },
    ],
  ])('that %s fails no append and prevents no summary', async (_title, put) => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    const open = await SummarizedSessions.open(inMemory, OPTIONS);
    jest.spyOn(open.storage.agenda, 'put').mockImplementation(put);
    await open.append(...turns(1, 4));
    await open.settle();
    expect(await open.view()).toEqual(['= summary 1', 'q4', 'a4']);
    expect(warn.mock.calls[0]?.[0]).toBe('A session could not be put on the agenda: no agenda');
    await open.destroy();
    jest.restoreAllMocks();
  });
});

async function unavailable(): Promise<never> {
  throw new Error('it is away');
}
