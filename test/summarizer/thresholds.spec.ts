import type { SummarizerOptions } from '../../src/summarizer/summarizer-options.js';
import { MEASURES } from '../../src/summarizer/summary-outlook.js';
import { type Threshold, allOf, anyOf, eventsOver, tokensOver, turnsOver } from '../../src/summarizer/thresholds.js';
import { firstStore, storeOfEachKind } from '../support/stores.js';
import { SESSION, SummarizedSessions, agent, turns, user } from './summarized-sessions.js';
import { SAMPLES } from './threshold-samples.js';

let open: SummarizedSessions;

afterEach(async () => {
  await open.destroy();
});

describe.each(firstStore)('thresholds of summaries on $name', (store) => {
  async function start(options: SummarizerOptions): Promise<void> {
    open = await SummarizedSessions.open(store, { keepRecentEvents: 0, ...options });
  }

  it.each(MEASURES)('trigger no summary at the limit of %s, and one above it', async (kind) => {
    const { limit, reach, exceed } = SAMPLES[kind];
    await start({ [kind]: limit });
    await reach(open);
    await open.settle();
    expect(await open.summaries.createSessionSummary({ session: SESSION })).toBeUndefined();
    expect(open.model.requests).toHaveLength(0);
    await exceed(open);
    await open.settle();
    expect(await open.view()).toEqual(['= summary 1']);
  });

  it.each(['any', 'all'] as const)('trigger a summary once %s of them are met', async (match) => {
    await start({ match, turns: match === 'all' ? 1 : 9, events: 3 });
    await open.append(user('q1'), user('q2'), agent('a'));
    await open.settle();
    expect(open.model.requests).toHaveLength(0);
    await open.append(agent('b'));
    await open.settle();
    expect(open.model.requests).toHaveLength(1);
  });

  it('measure the idle time since the last append', async () => {
    await start({ idleSeconds: 600 });
    await open.append(...turns(1, 2));
    for (let minutes = 0; minutes < 30; minutes += 5) {
      open.clock.advanceSeconds(300);
      await open.append(agent('still here'));
      await open.summaries.sweep();
    }
    await open.settle();
    expect(open.model.requests).toHaveLength(0);
    open.clock.advanceSeconds(601);
    await open.summaries.sweep();
    await open.settle();
    expect(open.model.requests).toHaveLength(1);
  });

  it('count only events that the last summary does not cover', async () => {
    await start({ turns: 3, keepRecentEvents: 2 });
    await open.append(...turns(1, 3), user('q4'));
    await open.settle();
    expect(await open.view()).toEqual(['= summary 1', 'q3', 'a3', 'q4']);
    await open.append(agent('a4'), user('q5'));
    await open.settle();
    expect(open.model.requests).toHaveLength(1);
    await open.append(agent('a5'), user('q6'));
    await open.settle();
    expect(await open.view()).toEqual(['= summary 2', 'q5', 'a5', 'q6']);
  });

  it('do not count rewound events, and count the events of a rewound summary again', async () => {
    await start({ turns: 3, keepRecentEvents: 0 });
    await open.append(...turns(1, 3));
    await open.sessions.rewindSession({ appName: 'shop', userId: 'ann', sessionId: 'one', toSeq: 2 });
    await open.append(...turns(4, 5));
    await open.settle();
    expect(open.model.requests).toHaveLength(0);
    await open.append(...turns(6, 6));
    await open.settle();
    expect(open.model.requests).toHaveLength(1);
    await open.sessions.rewindSession({ appName: 'shop', userId: 'ann', sessionId: 'one', toSeq: 9 });
    await open.append(...turns(7, 8));
    await open.settle();
    expect(open.model.requests).toHaveLength(2);
  });

  it('give custom conditions the counters and the event without a read', async () => {
    const seen: Parameters<Threshold>[0][] = [];
    const condition: Threshold = (facts) => {
      seen.push(facts);
      return facts.event?.customMetadata?.['close'] === true;
    };
    await start({ checkers: [condition] });
    await open.appendEach(user('q'), { ...agent('a'), customMetadata: { close: true } });
    await open.settle();
    expect(seen[0]).toMatchObject({ since: { turns: 1, events: 1, contentLength: 1 }, event: { seq: 1 }, idleMs: 0 });
    expect(open.model.requests).toHaveLength(1);
  });

  it('can be nested', async () => {
    await start({ when: anyOf(turnsOver(10), allOf(eventsOver(2), tokensOver(5))) });
    await open.append(user('q'), { ...agent('a'), usageMetadata: { totalTokenCount: 6 } });
    await open.settle();
    expect(open.model.requests).toHaveLength(0);
    await open.append(agent('third'));
    await open.settle();
    expect(open.model.requests).toHaveLength(1);
  });
});

describe.each(storeOfEachKind)('a threshold on $name', (store) => {
  it('uses counters that survive a restart', async () => {
    open = await SummarizedSessions.open(store, { turns: 3, keepRecentEvents: 0 });
    await open.append(...turns(1, 3));
    const after = open.restarted({ turns: 3, keepRecentEvents: 0 });
    await after.append(...turns(4, 4));
    await after.settle();
    expect(open.model.requests).toHaveLength(1);
    await after.destroy();
  });
});
