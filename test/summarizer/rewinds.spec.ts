import { storeOfEachKind } from '../support/stores.js';
import { KEY, SESSION, ScriptedModel, SummarizedSessions, turns, user } from './summarized-sessions.js';

describe.each(storeOfEachKind)('a rewind on $name', (store) => {
  let open: SummarizedSessions;

  async function start(model?: ScriptedModel): Promise<void> {
    open = await SummarizedSessions.open(store, { keepRecentEvents: 2, autoSummarize: false }, model);
    await open.append(...turns(1, 3));
  }

  const summarise = () => open.summaries.createSessionSummary({ session: SESSION, force: true });
  const rewind = (toSeq: number) => open.sessions.rewindSession({ ...KEY, toSeq });
  const readLast = () => open.model.requests.at(-1)?.conversation.map(({ text }) => text);

  afterEach(async () => {
    await open.destroy();
  });

  it('to a point before a summary was written restores its events, and the summary is written again', async () => {
    await start();
    expect(await summarise()).toMatchObject({ text: 'summary 1', toSeq: 4 });
    await rewind(6);
    expect(await open.view()).toEqual(['q1', 'a1', 'q2', 'a2', 'q3', 'a3']);
    expect(await open.summaries.getSessionSummary(KEY)).toBeUndefined();
    expect(await summarise()).toMatchObject({ text: 'summary 2', toSeq: 4, isInForce: true });
    expect(open.model.requests[1]?.previousSummary).toBeUndefined();
    expect(readLast()).toEqual(['q1', 'a1', 'q2', 'a2']);
    expect(await open.view()).toEqual(['= summary 2', 'q3', 'a3']);
    const all = await open.summaries.listSummaries(KEY);
    expect(all.map(({ text, isInForce }) => [text, isInForce])).toEqual([
      ['summary 1', false],
      ['summary 2', true],
    ]);
  });

  it('can be repeated, with the same text and boundary of the summary each time', async () => {
    await start(new ScriptedModel(async () => ({ text: 'the same' })));
    // Then the summaries have identical content.
    const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
    try {
      for (let round = 0; round < 3; round++) {
        expect(await summarise()).toMatchObject({ text: 'the same', isInForce: true });
        expect(await open.view()).toEqual(['= the same', 'q3', 'a3']);
        await rewind(6);
        expect(await open.view()).toEqual(['q1', 'a1', 'q2', 'a2', 'q3', 'a3']);
      }
    } finally {
      clock.mockRestore();
    }
    const all = await open.summaries.listSummaries(KEY);
    expect(all.map(({ isInForce }) => isInForce)).toEqual([false, false, false]);
  });

  it('into the range of a summary removes it, and the next summary contains no rewound event', async () => {
    await start();
    await summarise();
    await rewind(2);
    expect(await open.view()).toEqual(['q1', 'a1']);
    await open.append(...turns(7, 8));
    await summarise();
    expect(readLast()).toEqual(['q1', 'a1', 'q7', 'a7']);
    expect(open.model.requests.at(-1)?.previousSummary).toBeUndefined();
    expect(await open.view()).toEqual(['= summary 2', 'q8', 'a8']);
  });

  it('to a point after a summary keeps it, and the next summary includes it', async () => {
    await start();
    await summarise();
    await open.append(...turns(4, 5));
    await rewind(7);
    await open.append(...turns(6, 7));
    await summarise();
    expect(open.model.requests.at(-1)?.previousSummary).toBe('summary 1');
    expect(readLast()).toEqual(['q3', 'a3', 'q6', 'a6']);
    expect(await open.view()).toEqual(['= summary 2', 'q7', 'a7']);
  });

  it('of a rewind restores the summary', async () => {
    await start();
    await summarise();
    await rewind(2);
    await rewind(7);
    expect(await open.view()).toEqual(['= summary 1', 'q3', 'a3']);
    expect(await open.summaries.getSessionSummary(KEY)).toMatchObject({ text: 'summary 1', isInForce: true });
  });

  it('does not confuse an event that has the id of a summary with a summary', async () => {
    await start();
    await open.append({ ...user('mine'), id: 'summary:4' }, ...turns(4, 4));
    await open.append({ ...user('mine too'), id: 'summary:7' });
    expect(await summarise()).toMatchObject({ text: 'summary 1', isInForce: true });
    expect((await open.log()).filter(({ id }) => id.startsWith('summary:')).map(({ author }) => author)).toEqual([
      'user',
      'user',
      'system',
    ]);
  });
});
