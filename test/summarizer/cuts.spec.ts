import { firstStore } from '../support/stores.js';
import { KEY, SESSION, SummarizedSessions, agent, answer, call, turns, user } from './summarized-sessions.js';
import { eventsOf } from './log-notation.js';

const foreign = (toSeq: number) => ({
  ...agent('foreign'),
  author: 'somebody',
  actions: { compaction: { fromSeq: 1, toSeq } },
});

describe.each(firstStore)('cuts of summaries on $name', (store) => {
  let open: SummarizedSessions;

  async function start(keepRecentEvents: number): Promise<void> {
    open = await SummarizedSessions.open(store, { keepRecentEvents, autoSummarize: false });
  }

  const summarise = () => open.summaries.createSessionSummary({ session: SESSION, force: true });

  afterEach(async () => {
    await open.destroy();
  });

  it.each([
    ['between turns', 2, 'u a u a', ['= summary 1', 'u2', 'a3']],
    ['before a call that is answered after the cut', 1, 'u a u +x -x', ['= summary 1', 'u2', '4', '5']],
    ['before parallel calls', 1, 'u a u +x+y -x a -y', ['= summary 1', 'u2', '4', '5', 'a5', '7']],
    ['before an open call, although the user continued', 1, 'u a u +x u a', ['= summary 1', 'u2', '4', 'u4', 'a5']],
    ['inside the only turn', 2, 'u a a a a', ['= summary 1', 'a3', 'a4']],
    ['without any user', 1, 'a a a', ['= summary 1', 'a2']],
    ['inside the first turn, when a second one has just begun', 2, 'u a a u', ['= summary 1', 'a2', 'u3']],
    ['at the end, with a question that has no answer', 0, 'u a u', ['= summary 1']],
    ['not inside a single pair', 1, '+x -x', ['1', '2']],
    ['not among the newest events', 4, 'u a u a', ['u0', 'a1', 'u2', 'a3']],
  ])('are %s', async (_title, keep, log, view) => {
    await start(keep);
    await open.append(...eventsOf(log));
    const summary = await summarise();
    expect(await open.view()).toEqual(view);
    expect(summary?.isInForce ?? false).toBe(view[0] === '= summary 1');
  });

  it('are made in a long turn with force, if a second turn has just begun', async () => {
    await start(10);
    await open.append(user('q1'), ...Array.from({ length: 30 }, (_, index) => agent(`a${index + 1}`)), user('q2'));
    expect(await summarise()).toMatchObject({ fromSeq: 1, toSeq: 22 });
    expect(await open.view()).toHaveLength(11);
    expect(await summarise()).toBeUndefined();
  });

  it('exclude the last message of the user if there is an earlier cut, except with force', async () => {
    open = await SummarizedSessions.open(store, { keepRecentEvents: 0, events: 1 });
    await open.append(user('q1'), agent('a1'), user('q2'));
    await open.settle();
    expect(await open.view()).toEqual(['= summary 1', 'q2']);
    expect(await open.summaries.createSessionSummary({ session: SESSION })).toBeUndefined();
    expect(await summarise()).toMatchObject({ toSeq: 3 });
    expect(await open.view()).toEqual(['= summary 2']);
  });

  it('cover the previous summary, even one that the app appended', async () => {
    await start(2);
    await open.appendEach(...turns(1, 3), foreign(3), ...turns(4, 5));
    const summary = await summarise();
    expect(summary).toMatchObject({ fromSeq: 1, toSeq: 9, originalEventCount: 8, compressedEventCount: 3 });
    expect(open.model.requests[0]?.previousSummary).toBe('foreign');
    expect(open.model.requests[0]?.conversation.map(({ text }) => text)).toEqual(['a2', 'q3', 'a3', 'q4', 'a4']);
    expect(await open.view()).toEqual(['= summary 1', 'q5', 'a5']);
  });

  it('leave out rewound events and events with skipSummarization', async () => {
    await start(2);
    await open.append(...turns(1, 3));
    await open.sessions.rewindSession({ ...KEY, toSeq: 2 });
    await open.append(
      { ...agent('hidden'), actions: { skipSummarization: true } },
      { ...agent('half'), partial: true },
    );
    await open.append(...turns(4, 5));
    await summarise();
    expect(open.model.requests[0]?.conversation.map(({ text }) => text)).toEqual(['q1', 'a1', 'q4', 'a4']);
    expect(await open.view()).toEqual(['= summary 1', 'q5', 'a5']);
  });

  it('keep a call and its late response together', async () => {
    await start(2);
    await open.append(...turns(1, 2), user('order it'), call('slow'), ...turns(3, 6));
    await summarise();
    expect(await open.view()).toEqual(['= summary 1', 'order it', '6', 'q3', 'a3', 'q4', 'a4', 'q5', 'a5', 'q6', 'a6']);
    await open.append(answer('slow'), agent('it is ordered'), ...turns(7, 8));
    await summarise();
    expect(await open.view()).toEqual(['= summary 2', 'q8', 'a8']);
    const read = open.model.requests[1]?.conversation.map(({ text }) => text) ?? [];
    expect(read.filter((text) => text.includes('slow'))).toHaveLength(2);
  });

  it.each([
    ['the user sends the response', { ...answer('approval'), author: 'user' }],
    ['another invocation sends the response', { ...answer('approval'), invocationId: 'later' }],
  ])('do not treat the receipt of a long-running tool as its response: %s', async (_title, approval) => {
    await start(2);
    const approvalCall = { ...call('approval'), invocationId: 'now', longRunningToolIds: ['approval'] };
    const receipt = { ...answer('approval'), invocationId: 'now' };
    await open.append(...turns(1, 1), user('buy it'), approvalCall, receipt, agent('I asked'), ...turns(2, 4));
    expect(await summarise()).toMatchObject({ toSeq: 2 });
    await open.append(approval, agent('bought'), ...turns(5, 6));
    expect(await summarise()).toMatchObject({ toSeq: 17 });
    expect(await open.view()).toEqual(['= summary 2', 'q6', 'a6']);
  });

  it('include a call that is never answered, after a limit', async () => {
    await start(2);
    await open.append(user('order it'), call('lost'), ...turns(1, 40));
    expect(await summarise()).toMatchObject({ toSeq: 1 });
    await open.append(...turns(41, 60));
    expect(await summarise()).toBeDefined();
    expect(await open.view()).toEqual(['= summary 2', 'q60', 'a60']);
  });
});
