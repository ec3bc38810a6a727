import { readSummaryInput } from '../../src/summarizer/conversation/summary-input.js';
import { recordingCalls } from '../support/recorded-calls.js';
import { inMemory } from './in-memory.js';
import { KEY, SummarizedSessions, answer, call, turns, user } from './summarized-sessions.js';

const TURNS = 1_000;

describe('readSummaryInput with a call that is answered thousands of events later', () => {
  let open: SummarizedSessions;
  afterEach(() => open.destroy());

  it.each([
    ['after a request', [user('order')]],
    ['at the start of the log', []],
  ])('makes few store calls, not one per event: call %s', async (_title, before) => {
    open = await SummarizedSessions.open(inMemory, { autoSummarize: false });
    await open.appendEach(...before, call('slow'), ...turns(1, TURNS), answer('slow'), ...turns(1, TURNS));
    const calls: string[] = [];
    const limits = { keepRecentEvents: 2, maxInputLength: 200 };
    const input = await readSummaryInput(recordingCalls(open.storage, calls), KEY, limits);
    expect(input?.isPart).toBe(true);
    expect(input?.events.length).toBeLessThanOrEqual(2.5 * TURNS);
    expect(calls.length).toBeLessThan(500);
  });
});
