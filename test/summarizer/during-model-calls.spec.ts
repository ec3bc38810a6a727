import type { SummarizerOptions } from '../../src/summarizer/summarizer-options.js';
import { storeOfEachKind } from '../support/stores.js';
import { until } from '../support/until.js';
import { HeldModel } from './held-model.js';
import { KEY, SESSION, SummarizedSessions, agent, turns, user } from './summarized-sessions.js';

const OPTIONS: SummarizerOptions = { events: 7, keepRecentEvents: 2 };

describe.each(storeOfEachKind)('during a model call, on $name', (store) => {
  let model: HeldModel;
  let open: SummarizedSessions;

  beforeEach(async () => {
    model = new HeldModel();
    open = await SummarizedSessions.open(store, OPTIONS, model);
    await open.append(...turns(1, 4));
    await model.called(1);
  });

  afterEach(async () => {
    model.answer();
    await open.destroy();
  });

  /** Answers model calls until none is pending. */
  async function answerAll(): Promise<void> {
    await until(() => {
      model.answer();
      const { running, waiting } = open.summaries.counts;
      return running + waiting === 0;
    });
    await open.settle();
  }

  it('appends are acknowledged, and their events count for the next summary', async () => {
    await open.append(...turns(5, 7));
    expect((await open.log()).map(({ seq }) => seq)).toEqual(Array.from({ length: 14 }, (_, index) => index + 1));
    expect(open.summaries.counts).toMatchObject({ running: 1, stored: 0 });
    await answerAll();
    // The first summary leaves two events, and six were appended since.
    expect(await open.view()).toEqual(['= summary 2', 'q7', 'a7']);
    expect((await open.log()).filter(({ actions }) => actions.compaction).map(({ id }) => id)).toEqual([
      'summary:6',
      'summary:12',
    ]);
    expect(open.summaries.counts).toMatchObject({ stored: 2, failed: 0 });
  });

  it('events of another process are summarised right after the call', async () => {
    const otherModel = new HeldModel();
    const other = open.restarted({ ...OPTIONS, model: otherModel });
    await other.append(...turns(5, 7));
    await other.settle();
    expect(otherModel.requests).toHaveLength(0);
    model.answer();
    await model.called(2);
    await answerAll();
    expect(await open.view()).toEqual(['= summary 2', 'q7', 'a7']);
    await other.destroy();
  });

  it('rewound events are not summarised, and a later due summary is written', async () => {
    await open.sessions.rewindSession({ ...KEY, toSeq: 4 });
    await answerAll();
    expect(await open.view()).toEqual(['q1', 'a1', 'q2', 'a2']);
    expect(model.requests).toHaveLength(1);
    await open.append(...turns(5, 6));
    await model.called(2);
    await answerAll();
    expect(await open.view()).toEqual(['= summary 2', 'q6', 'a6']);
    const texts = model.requests[1]?.conversation.map(({ text }) => text);
    expect(texts).toEqual(['q1', 'a1', 'q2', 'a2', 'q5', 'a5']);
    expect(open.summaries.counts).toMatchObject({ stored: 1, failed: 0 });
  });

  it('a session that stays due after a rewind is summarised right after the call', async () => {
    const withoutSummaries = open.restarted({ autoSummarize: false });
    await withoutSummaries.append(...turns(5, 5));
    await open.sessions.rewindSession({ ...KEY, toSeq: 8 });
    model.answer();
    await model.called(2);
    expect((await open.log()).filter(({ actions }) => actions.compaction)).toEqual([]);
    await answerAll();
    expect(await open.view()).toEqual(['= summary 2', 'q4', 'a4']);
    await withoutSummaries.destroy();
  });

  it('a deleted session stays deleted, without retries', async () => {
    await open.sessions.deleteSession(KEY);
    await answerAll();
    expect(await open.sessions.getSession(KEY)).toBeUndefined();
    expect(open.summaries.counts).toEqual({ running: 0, waiting: 0, stored: 0, failed: 0 });
    open.clock.advanceSeconds(3_600);
    await open.summaries.sweep();
    expect(await open.storage.agenda.due(10)).toEqual([]);
    expect(model.requests).toHaveLength(1);
  });

  it('a new session with the id of a deleted one gets its own summary', async () => {
    await open.sessions.deleteSession(KEY);
    await open.sessions.createSession(KEY);
    await open.append(...turns(11, 13));
    await answerAll();
    expect(await open.view()).toEqual(['q11', 'a11', 'q12', 'a12', 'q13', 'a13']);
    await open.append(...turns(14, 14));
    await model.called(2);
    await answerAll();
    expect(await open.view()).toEqual(['= summary 2', 'q14', 'a14']);
    expect(model.requests[1]?.conversation[0]?.text).toBe('q11');
    expect(open.summaries.counts).toMatchObject({ stored: 1, failed: 0 });
  });

  it('a new session that is due too gets only its own summary', async () => {
    await open.sessions.deleteSession(KEY);
    await open.sessions.createSession(KEY);
    await open.append(...turns(11, 14));
    await answerAll();
    expect(await open.view()).toEqual(['= summary 2', 'q14', 'a14']);
    expect((await open.log()).filter(({ actions }) => actions.compaction)).toHaveLength(1);
    expect(model.requests.map(({ conversation }) => conversation[0]?.text)).toEqual(['q1', 'q11']);
  });

  it('a fork is summarised independently', async () => {
    const fork = await open.sessions.forkSession({ ...KEY, newSessionId: 'two' });
    await answerAll();
    expect(await open.view()).toEqual(['= summary 1', 'q4', 'a4']);
    const read = async () => (await open.sessions.getSession({ ...KEY, sessionId: 'two' }))?.events ?? [];
    expect((await read()).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    await open.sessions.appendEvent({ session: { ...SESSION, id: fork.id }, event: user('q5') });
    await open.sessions.appendEvent({ session: { ...SESSION, id: fork.id }, event: agent('a5') });
    await answerAll();
    const [first, ...rest] = await read();
    expect(first).toMatchObject({ author: 'system', actions: { compaction: { fromSeq: 1 } } });
    expect(rest.at(-1)?.content?.parts?.[0]?.text).toBe('a5');
  });

  it('a lost lease lets its new holder write the summary, and the late answer is discarded', async () => {
    const otherModel = new HeldModel();
    const other = open.restarted({ ...OPTIONS, model: otherModel });
    open.clock.advanceSeconds(31);
    await other.append(agent('b4'));
    await otherModel.called(1);
    otherModel.answer();
    await other.settle();
    expect(await open.view()).toEqual(['= summary 1', 'q4', 'a4', 'b4']);
    const before = await open.log();
    model.answer();
    await open.settle();
    expect(await open.log()).toEqual(before);
    expect(open.summaries.counts).toMatchObject({ stored: 0, failed: 0 });
    expect(otherModel.requests).toHaveLength(1);
    await other.destroy();
  });
});

describe.each(storeOfEachKind)('a lease that is lost during a model call, on $name', (store) => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each(['a different summary', 'an identical summary'])(
    'allows its new holder to write %s, and one summary is stored',
    async (which) => {
      const isSame = which === 'an identical summary';
      // The duration of the model call is stored with a summary.
      if (isSame) jest.spyOn(performance, 'now').mockReturnValue(performance.now());
      const [model, otherModel] = [new HeldModel(), new HeldModel(isSame ? 'summary' : 'another')];
      const open = await SummarizedSessions.open(store, OPTIONS, model);
      const other = open.restarted({ ...OPTIONS, model: otherModel });
      await open.append(...turns(1, 4));
      await model.called(1);
      open.clock.advanceSeconds(61);
      await other.summaries.sweep();
      await otherModel.called(1);
      model.answer();
      await open.settle();
      otherModel.answer();
      await other.settle();
      const summaries = (await open.log()).filter(({ actions }) => actions.compaction);
      expect(summaries.map(({ id }) => id)).toEqual(['summary:6']);
      expect(await open.view()).toEqual(['= summary 1', 'q4', 'a4']);
      expect(open.summaries.counts).toMatchObject({ stored: 1, failed: 0 });
      expect(other.summaries.counts).toMatchObject({ stored: 0, failed: 0 });
      await other.destroy();
      await open.destroy();
    },
  );
});
