import { storeOfEachKind } from '../support/stores.js';
import { KEY, SESSION, SummarizedSessions, turns } from './summarized-sessions.js';

const FORK = { ...KEY, sessionId: 'fork' };
const IN_FORK = { ...SESSION, id: 'fork' };

describe.each(storeOfEachKind)('a fork on $name', (store) => {
  let open: SummarizedSessions;

  beforeEach(async () => {
    open = await SummarizedSessions.open(store, { keepRecentEvents: 2, autoSummarize: false });
    await open.append(...turns(1, 3));
    await open.summaries.createSessionSummary({ session: SESSION, force: true });
  });

  afterEach(async () => {
    await open.destroy();
  });

  const summariseFork = () => open.summaries.createSessionSummary({ session: IN_FORK, force: true });

  it('starts with the summary of its source and continues with its own summaries', async () => {
    await open.sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    expect(await open.summaries.getSessionSummary(FORK)).toMatchObject({ text: 'summary 1', isInForce: true });
    for (const event of turns(4, 5)) await open.sessions.appendEvent({ session: IN_FORK, event });
    expect(await summariseFork()).toMatchObject({ text: 'summary 2', fromSeq: 1, toSeq: 5 });
    expect(open.model.requests[1]).toMatchObject({ previousSummary: 'summary 1' });
    expect(open.model.requests[1]?.conversation.map(({ text }) => text)).toEqual(['q3', 'a3', 'q4', 'a4']);
    expect(await open.summaries.getSessionSummary(KEY)).toMatchObject({ text: 'summary 1', isInForce: true });
  });

  it('has no summary if it ends before the summary', async () => {
    await open.sessions.forkSession({ ...KEY, atSeq: 6, newSessionId: 'fork' });
    expect(await open.summaries.getSessionSummary(FORK)).toBeUndefined();
    expect(await summariseFork()).toMatchObject({ text: 'summary 2', fromSeq: 1, toSeq: 4 });
    expect(open.model.requests[1]?.previousSummary).toBeUndefined();
  });
});
