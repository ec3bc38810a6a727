import { type EventFigures, figuresOf, figuresOfEvent } from '../../inspector/src/turn-usage.js';
import { type EventInput, Event } from '../../src/index.js';

const content = { role: 'model', parts: [{ text: 'said' }] };

/** Events of a log, each `ms` after the one before it. */
function logOf(...events: readonly (EventInput & { readonly ms?: number })[]): EventFigures[] {
  let timestamp = 1_000_000;
  return events.map(({ ms = 0, ...event }, index) => {
    timestamp += ms;
    return figuresOfEvent(Object.assign(new Event({ timestamp, ...event }), { seq: index + 1 }));
  });
}

const user = (invocationId: string, ms = 0) => ({ author: 'user', invocationId, ms, content });
const agent = (invocationId: string, ms = 0, more: EventInput = {}) => ({
  author: 'agent',
  invocationId,
  ms,
  content,
  ...more,
});
const used = (modelVersion: string, promptTokenCount: number, candidatesTokenCount = 0): EventInput => ({
  modelVersion,
  usageMetadata: { promptTokenCount, candidatesTokenCount },
});

describe('The figures of a log in the inspector', () => {
  it('add up the tokens of each turn, whichever turns are mixed', () => {
    const events = logOf(
      user('a'),
      user('b'),
      agent('a', 100, used('fast', 10, 1)),
      agent('b', 100, used('fast', 20, 2)),
      agent('a', 100, used('slow', 30, 3)),
    );
    const { turns, total } = figuresOf(events);
    expect(turns.map(({ fromSeq, toSeq, usage }) => [fromSeq, toSeq, usage.promptTokens, usage.outputTokens])).toEqual([
      [1, 5, 40, 4],
      [2, 4, 20, 2],
    ]);
    expect(total).toMatchObject({ events: 3, totalTokens: 66 });
  });

  it('measure a turn without what its user took to answer', () => {
    const events = logOf(user('a'), agent('a', 700), agent('a', 300), user('a', 3_600_000), agent('a', 2_000));
    expect(figuresOf(events).turns).toMatchObject([{ firstAnswerMs: 700, wholeMs: 3_000 }]);
  });

  it('say nothing of times that are not known', () => {
    const events = logOf(user('waits'), agent('begins without a user'), agent('begins without a user', 50));
    expect(figuresOf(events).turns).toMatchObject([
      { firstAnswerMs: undefined, wholeMs: undefined },
      { firstAnswerMs: undefined, wholeMs: 50 },
    ]);
  });

  it('take no time for negative', () => {
    expect(figuresOf(logOf(user('a'), agent('a', -500))).turns).toMatchObject([{ firstAnswerMs: 0, wholeMs: 0 }]);
  });

  it('begin a turn with each message of the user where events name no invocation', () => {
    const events = logOf(user(''), agent(''), agent(''), user(''), agent(''), user('named'), agent(''));
    expect(figuresOf(events).turns.map(({ fromSeq, toSeq }) => [fromSeq, toSeq])).toEqual([
      [1, 3],
      [4, 5],
      [6, 6],
    ]);
  });

  it('say how long the answers of each model took, since the event before them in their turn', () => {
    const events = logOf(
      user('a'),
      agent('a', 100, used('fast', 1)),
      agent('a', 1_000),
      agent('a', 300, used('fast', 1)),
      user('b', 60_000),
      agent('b', 800, used('fast', 1)),
      agent('b', 2_000, used('slow', 1)),
      agent('begins', 90_000, used('slow', 1)),
    );
    expect(figuresOf(events).models).toMatchObject([
      { model: 'fast', events: 3, medianMs: 300, slowestMs: 800 },
      { model: 'slow', events: 2, medianMs: 2_000, slowestMs: 2_000 },
    ]);
    const [fast] = figuresOf(events.slice(0, 4)).models;
    expect(fast).toMatchObject({ medianMs: 200 });
  });

  it('take the time of a model from the fact about its request, if there is one', () => {
    const told = { ...agent('a', 900, used('fast', 7)), modelRequest: { given: [[1, 1]] as const, durationMs: 350 } };
    const { models } = figuresOf(logOf(user('a'), told, user('b'), agent('b', 200, used('fast', 8))));
    expect(models).toMatchObject([{ model: 'fast', medianMs: 275, slowestMs: 350 }]);
  });

  it('count a summary for its model, and for no turn', () => {
    const compaction = { fromSeq: 1, toSeq: 1, durationMs: 4_000 };
    const summary = { author: 'system', content, actions: { compaction }, ...used('writer', 500) };
    const { turns, models } = figuresOf(logOf(user('a'), summary, agent('a', 10)));
    expect(turns).toMatchObject([{ fromSeq: 1, toSeq: 3, usage: { totalTokens: 0 } }]);
    expect(models).toMatchObject([{ model: 'writer', totalTokens: 500, medianMs: 4_000 }]);
  });

  it('leave out the oldest turn if its beginning was not read, but not its tokens', () => {
    const events = logOf(agent('a', 0, used('fast', 7)), user('b'), agent('b', 5, used('fast', 8)));
    const { turns, models } = figuresOf(events, { isWhole: false });
    expect(turns).toMatchObject([{ fromSeq: 2, usage: { promptTokens: 8 } }]);
    expect(models).toMatchObject([{ promptTokens: 15 }]);
  });

  it('are none without events', () => {
    expect(figuresOf([])).toMatchObject({ turns: [], models: [], total: { events: 0, totalTokens: 0 } });
  });
});
