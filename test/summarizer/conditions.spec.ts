import { getMaxListeners } from 'node:events';
import { Logger } from '@nestjs/common';
import type { SummarizerOptions } from '../../src/summarizer/summarizer-options.js';
import {
  type SummaryFacts,
  type Threshold,
  allOf,
  anyOf,
  eventsOver,
  turnsOver,
} from '../../src/summarizer/thresholds.js';
import { DueCheck } from '../../src/summarizer/summary-due.js';
import { storeOfEachKind } from '../support/stores.js';
import { inMemory } from './in-memory.js';
import { KEY, SummarizedSessions, agent, turns, user } from './summarized-sessions.js';

const OTHER = { ...KEY, sessionId: 'other' };
const isLong: Threshold = ({ since }) => since.events > 3;
const isLongLater: Threshold = async (facts) => isLong(facts);
const boom: Threshold = () => {
  throw new Error('boom');
};
const boomWithoutText: Threshold = () => {
  throw Object.assign(new Error('x'), { message: { boom: true } });
};
const boomLater: Threshold = async (facts) => boom(facts);
const yes: Threshold = () => true;
const no: Threshold = async () => false;

describe('conditions for summaries', () => {
  let open: SummarizedSessions;
  let warnings: string[];

  async function start(options: SummarizerOptions): Promise<void> {
    open = await SummarizedSessions.open(inMemory, { keepRecentEvents: 0, ...options });
  }

  beforeEach(() => {
    warnings = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((message: string) => void warnings.push(message));
  });

  afterEach(async () => {
    await open.destroy();
    jest.restoreAllMocks();
  });

  it.each<[string, SummarizerOptions, boolean]>([
    ['a custom condition that is met', { checkers: [yes] }, true],
    ['a custom condition that is not met', { checkers: [no] }, false],
    ['a custom condition that is met, and a threshold that is not met', { checkers: [yes], turns: 9 }, true],
    ['the same with match: all', { checkers: [yes], turns: 9, match: 'all' }, false],
    ['both met', { checkers: [yes], turns: 1, match: 'all' }, true],
    ['when, which replaces the thresholds', { when: no, turns: 1 }, false],
    ['no condition', {}, false],
    ['allOf with two conditions', { when: allOf(turnsOver(1), eventsOver(3)) }, true],
    ['allOf with a condition that is not met', { when: allOf(turnsOver(1), eventsOver(4)) }, false],
    ['anyOf with a condition that is met', { when: anyOf(turnsOver(9), eventsOver(3)) }, true],
    ['anyOf within allOf', { when: allOf(anyOf(no, yes), eventsOver(3)) }, true],
    ['allOf within anyOf', { when: anyOf(allOf(yes, no), eventsOver(4)) }, false],
    ['anyOf stops at the first condition that is met', { when: anyOf(yes, boom) }, true],
    ['allOf stops at the first condition that is not met', { when: allOf(no, boom) }, false],
  ])('decide whether a summary is due: %s', async (_title, options, isDue) => {
    await start({ ...options, turns: options.turns ?? 0, autoSummarize: false });
    await open.append(...turns(1, 2));
    const summary = await open.summaries.createSessionSummary({ session: { ...KEY, id: KEY.sessionId } });
    expect(summary !== undefined).toBe(isDue);
    expect(warnings).toEqual([]);
  });

  it.each<[string, unknown, boolean]>([
    ['undefined', undefined, false],
    ['null', null, false],
    ['a promise of null', Promise.resolve(null), false],
    ['NaN', Number.NaN, false],
    ['a string', 'yes', true],
    ['an array', ['yes'], true],
    ['a promise of an object', Promise.resolve({ word: 'yes' }), true],
  ])('may return %s, which is converted to a boolean', async (_title, result, isDue) => {
    const untyped = (() => result) as Threshold;
    for (const options of [
      { when: untyped },
      { checkers: [untyped] },
      { checkers: [untyped], events: 1, match: 'all' as const },
    ]) {
      await start({ ...options, autoSummarize: false });
      await open.append(...turns(1, 2));
      const summary = await open.summaries.createSessionSummary({ session: { ...KEY, id: KEY.sessionId } });
      expect(summary !== undefined).toBe(isDue);
      await open.summaries.close();
    }
  });

  it.each<[string, SummarizerOptions, number]>([
    ['no condition', {}, 1],
    ['autoSummarize: false', { autoSummarize: false }, 0],
    ['a threshold', { idleSeconds: 1 }, 0],
    ['a custom condition', { checkers: [no] }, 0],
    ['when', { when: no }, 0],
  ])('log a warning if no summary can ever be due: %s', async (_title, options, lines) => {
    await start(options);
    expect(warnings).toEqual(Array(lines).fill(expect.stringMatching(/^All thresholds are 0 .* set autoSummarize/)));
  });

  it('can run concurrently in any number without a listener warning of Node', async () => {
    const isDue = jest.spyOn(DueCheck.prototype, 'isDue');
    await start({ when: no });
    await open.append(...turns(1, 1));
    await open.settle();
    const [, signal] = isDue.mock.calls[0] ?? [];
    expect(signal && getMaxListeners(signal)).toBe(Infinity);
  });

  it.each<[string, Threshold]>([
    ['throws', boom],
    ['rejects', boomLater],
    ['throws what has no text', boomWithoutText],
    ['rejects within allOf', allOf(yes, boomLater)],
  ])('are logged if one %s, and the append succeeds', async (_title, condition) => {
    let isBroken = true;
    await start({ when: (facts) => (isBroken ? condition(facts) : isLong(facts)) });
    await open.append(...turns(1, 2));
    await open.settle();
    expect(warnings).toEqual(Array(4).fill(expect.stringMatching(/^A condition for summaries failed: .*boom/)));
    expect(await open.view()).toEqual(['q1', 'a1', 'q2', 'a2']);
    isBroken = false;
    await open.append(agent('a3'));
    await open.settle();
    expect(await open.view()).toEqual(['= summary 1']);
  });

  it('are checked again after a failure, which does not affect other sessions', async () => {
    let isBroken = true;
    const fails = ({ key }: SummaryFacts): boolean => isBroken && key.sessionId === 'one';
    await start({ when: (facts) => (fails(facts) ? boom(facts) : facts.idleMs > 60_000) });
    await open.sessions.createSession(OTHER);
    await open.append(...turns(1, 2));
    const session = { appName: 'shop', userId: 'ann', id: 'other' };
    for (const event of turns(3, 4)) await open.sessions.appendEvent({ session, event });
    await open.settle();
    open.clock.advanceSeconds(61);
    expect(await open.summaries.sweep()).toBe(2);
    await open.settle();
    expect(await open.summaries.getSessionSummary(OTHER)).toMatchObject({ text: 'summary 1' });
    expect(await open.summaries.getSessionSummary(KEY)).toBeUndefined();
    isBroken = false;
    open.clock.advanceSeconds(61);
    await open.summaries.sweep();
    await open.settle();
    expect(await open.summaries.getSessionSummary(KEY)).toMatchObject({ text: 'summary 2' });
  });
});

describe.each(storeOfEachKind)('the input of conditions on $name', (store) => {
  it.each<[string, Threshold]>([
    ['a boolean', isLong],
    ['a promise', isLongLater],
  ])(
    'are the counters since the last summary and the new event, also for a condition that returns %s',
    async (_title, condition) => {
      const seen: SummaryFacts[] = [];
      const when: Threshold = async (facts) => {
        seen.push(facts);
        return condition(facts);
      };
      const open = await SummarizedSessions.open(store, { keepRecentEvents: 0, when });
      try {
        await open.appendEach(user('q1'), agent('a1'), user('q2'));
        await open.settle();
        expect(seen.map(({ event, since }) => [event?.seq, since.events, since.turns])).toEqual([
          [1, 1, 1],
          [2, 2, 1],
          [3, 3, 2],
        ]);
        await open.append({ ...agent('a2'), usageMetadata: { totalTokenCount: 7 }, customMetadata: { x: 1 } });
        await open.settle();
        const since = { turns: 2, events: 4, contentLength: 8, tokens: 7 };
        expect(seen[3]).toMatchObject({ key: KEY, since, event: { seq: 4, customMetadata: { x: 1 } } });
        expect(await open.view()).toEqual(['= summary 1']);
        await open.append(user('q3'));
        await open.settle();
        expect(seen.at(-1)).toMatchObject({ since: { turns: 1, events: 1, contentLength: 2, tokens: 0 } });
      } finally {
        await open.destroy();
      }
    },
  );
});
