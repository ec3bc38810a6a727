import { firstStore } from '../support/stores.js';
import { SESSION, ScriptedModel, SummarizedSessions, agent, answer, call, turns, user } from './summarized-sessions.js';

const stateChange = { author: 'system', actions: { stateDelta: { a: 1 } } };

describe.each(firstStore)('a conversation longer than maxInputLength on $name', (store) => {
  let open: SummarizedSessions;

  async function start(maxInputLength: number, model?: ScriptedModel): Promise<void> {
    const options = { keepRecentEvents: 2, maxInputLength, autoSummarize: false };
    open = await SummarizedSessions.open(store, options, model);
  }

  const summarise = () => open.summaries.createSessionSummary({ session: SESSION, force: true });
  const read = () => open.model.requests.map(({ conversation }) => conversation.map(({ text }) => text));

  afterEach(async () => {
    await open.destroy();
  });

  it('is summarised in parts, oldest turns first, each with the previous summary', async () => {
    await start(9);
    await open.append(...turns(1, 6));
    expect(await summarise()).toMatchObject({ fromSeq: 1, toSeq: 10 });
    expect(read()).toEqual([
      ['q1', 'a1', 'q2', 'a2'],
      ['q3', 'a3', 'q4', 'a4'],
      ['q5', 'a5'],
    ]);
    expect(open.model.requests.map(({ previousSummary }) => previousSummary)).toEqual([
      undefined,
      'summary 1',
      'summary 2',
    ]);
    expect(await open.view()).toEqual(['= summary 3', 'q6', 'a6']);
    const all = await open.summaries.listSummaries({ appName: 'shop', userId: 'ann', sessionId: 'one' });
    expect(all.map(({ toSeq, isInForce }) => [toSeq, isInForce])).toEqual([
      [4, false],
      [8, false],
      [10, true],
    ]);
  });

  it('is summarised in one part if it just fits', async () => {
    await start(20);
    await open.append(...turns(1, 6));
    await summarise();
    expect(read()).toEqual([['q1', 'a1', 'q2', 'a2', 'q3', 'a3', 'q4', 'a4', 'q5', 'a5']]);
  });

  it('has a separate part for a single huge event, which is shortened', async () => {
    await start(100);
    await open.append(...turns(1, 1), user('😀'.repeat(5_000)), agent('done'), ...turns(3, 4));
    await summarise();
    const [first, giant, rest] = read();
    expect(first).toEqual(['q1', 'a1']);
    expect(giant).toHaveLength(1);
    expect(giant?.[0]).toMatch(/^(😀)+ \[… \d+ characters left out …\] (😀)+$/u);
    expect(giant?.[0]?.length).toBeLessThanOrEqual(100);
    expect(rest).toEqual(['done', 'q3', 'a3']);
    expect(await open.view()).toEqual(['= summary 3', 'q4', 'a4']);
  });

  it('has no part without text', async () => {
    await start(10);
    await open.append(stateChange, stateChange, user('x'.repeat(50)), agent('done'), ...turns(2, 3));
    await summarise();
    expect(read()[0]).toEqual(['xxxxx…', 'done']);
    expect(await open.view()).toEqual(['= summary 2', 'q3', 'a3']);
  });

  it('keeps a call with its response across turns and pages', async () => {
    await start(9);
    await open.append(user('order'), call('slow'), ...turns(1, 3), answer('slow'), ...turns(4, 6));
    await summarise();
    expect(read()[0]).toEqual(['order']);
    expect(read()[1]).toHaveLength(8);
    expect(read()[1]?.join('').length).toBeLessThanOrEqual(9);
    expect(await open.view()).toEqual([expect.stringMatching(/^= summary/), 'q6', 'a6']);
  });

  it('is not blocked by a call without a response', async () => {
    await start(40);
    await open.appendEach(user('order'), call('lost'), ...turns(1, 70));
    await summarise();
    expect(read().length).toBeGreaterThan(5);
    expect(Math.max(...read().map((texts) => texts.join('').length))).toBeLessThanOrEqual(50);
    expect((await open.view()).slice(1)).toEqual(['q70', 'a70']);
  });

  it('keeps the summary of a part if a later part fails, and a retry continues from there', async () => {
    let calls = 0;
    const model = new ScriptedModel(async () => {
      if (++calls === 2) throw new Error('away');
      return { text: `summary ${calls}` };
    });
    await start(9, model);
    await open.append(...turns(1, 6));
    await expect(summarise()).rejects.toMatchObject({ code: 'SUMMARY_FAILED' });
    expect(await open.view()).toEqual(['= summary 1', 'q3', 'a3', 'q4', 'a4', 'q5', 'a5', 'q6', 'a6']);
    await summarise();
    expect(open.model.requests[2]?.previousSummary).toBe('summary 1');
    expect(read()[2]).toEqual(['q3', 'a3', 'q4', 'a4']);
    expect(await open.view()).toEqual(['= summary 4', 'q6', 'a6']);
  });
});
