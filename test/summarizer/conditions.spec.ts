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
import { DueCheck } from '../../src/summarizer/due-check.js';
import { testStores } from '../support/stores.js';
import { inMemory } from './in-memory.js';
import { KEY, SummarizedSessions, agent, turns, user } from './summarized-sessions.js';

const OTHER = { ...KEY, sessionId: 'other' };
const isLong: Threshold = ({ since }) => since.events > 3;
const isLongLater: Threshold = async (facts) => isLong(facts);
const boom: Threshold = () => {
  throw new Error('boom');
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
    ['one of the app', { checkers: [yes] }, true],
    ['one of the app that is not met', { checkers: [no] }, false],
    ['one of the app, and a setting that is not met', { checkers: [yes], turns: 9 }, true],
    ['the same where all have to be met', { checkers: [yes], turns: 9, match: 'all' }, false],
    ['both met', { checkers: [yes], turns: 1, match: 'all' }, true],
    ['one in place of the settings', { when: no, turns: 1 }, false],
    ['none at all', {}, false],
    ['all of none', { when: allOf() }, false],
    ['any of none', { when: anyOf() }, false],
    ['all of some', { when: allOf(turnsOver(1), eventsOver(3)) }, true],
    ['all of some, one not met', { when: allOf(turnsOver(1), eventsOver(4)) }, false],
    ['any of some, one met', { when: anyOf(turnsOver(9), eventsOver(3)) }, true],
    ['any in all', { when: allOf(anyOf(no, yes), eventsOver(3)) }, true],
    ['all in any', { when: anyOf(allOf(yes, no), eventsOver(4)) }, false],
    ['what comes after the first that is met is not asked', { when: anyOf(yes, boom) }, true],
    ['what comes after the first that is not met is not asked', { when: allOf(no, boom) }, false],
  ])('%s', async (_title, options, isDue) => {
    await start({ ...options, turns: options.turns ?? 0, autoSummarize: false });
    await open.append(...turns(1, 2));
    const summary = await open.summaries.createSessionSummary({ session: { ...KEY, id: KEY.sessionId } });
    expect(summary !== undefined).toBe(isDue);
    expect(warnings).toEqual([]);
  });

  it.each<[string, unknown, boolean]>([
    ['nothing', undefined, false],
    ['null', null, false],
    ['null later', Promise.resolve(null), false],
    ['no number', Number.NaN, false],
    ['a word', 'yes', true],
    ['what it found', ['yes'], true],
    ['what it found, later', Promise.resolve({ word: 'yes' }), true],
  ])('a condition without types that returns %s is converted to a boolean', async (_title, said, isDue) => {
    const odd = (() => said) as Threshold;
    for (const options of [{ when: odd }, { checkers: [odd] }, { checkers: [odd], events: 1, match: 'all' as const }]) {
      await start({ ...options, autoSummarize: false });
      await open.append(...turns(1, 2));
      const summary = await open.summaries.createSessionSummary({ session: { ...KEY, id: KEY.sessionId } });
      expect(summary !== undefined).toBe(isDue);
      await open.summaries.close();
    }
  });

  it.each<[string, SummarizerOptions, number]>([
    ['none at all', {}, 1],
    ['none, which is meant', { autoSummarize: false }, 0],
    ['one among the settings', { idleSeconds: 1 }, 0],
    ['one of the app', { checkers: [no] }, 0],
    ['one in place of the settings', { when: no }, 0],
  ])('a manager that can never summarise logs a warning: %s', async (_title, options, lines) => {
    await start(options);
    expect(warnings).toEqual(Array(lines).fill(expect.stringMatching(/^All thresholds are 0 .* set autoSummarize/)));
  });

  it('any number of conditions may run at once without a leak warning of Node', async () => {
    const isDue = jest.spyOn(DueCheck.prototype, 'isDue');
    await start({ when: no });
    await open.append(...turns(1, 1));
    await open.settle();
    const [, signal] = isDue.mock.calls[0] ?? [];
    expect(signal && getMaxListeners(signal)).toBe(Infinity);
  });

  it.each<[string, Threshold]>([
    ['throws', boom],
    ['throws later', boomLater],
    ['throws among others', allOf(yes, boomLater)],
  ])('a condition that %s is logged, and the append succeeds', async (_title, condition) => {
    let isBroken = true;
    await start({ when: (facts) => (isBroken ? condition(facts) : isLong(facts)) });
    await open.append(...turns(1, 2));
    await open.settle();
    expect(warnings).toEqual(Array(4).fill('A condition for summaries failed: boom'));
    expect(await open.view()).toEqual(['q1', 'a1', 'q2', 'a2']);
    isBroken = false;
    await open.append(agent('a3'));
    await open.settle();
    expect(await open.view()).toEqual(['= summary 1']);
  });

  it('a condition that fails for one session does not affect others, and is checked again later', async () => {
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

describe.each(testStores)('the input of conditions on $name', (store) => {
  it.each<[string, Threshold]>([
    ['at once', isLong],
    ['later', isLongLater],
  ])(
    'a condition that returns %s gets the counters since the last summary and the new event',
    async (_title, condition) => {
      const seen: SummaryFacts[] = [];
      const when: Threshold = async (facts) => {
        seen.push(facts);
        return condition(facts);
      };
      const open = await SummarizedSessions.open(store, { keepRecentEvents: 0, when });
      try {
        await open.append(user('q1'), agent('a1'), user('q2'));
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
