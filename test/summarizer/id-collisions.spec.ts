import { storeOfEachKind } from '../support/stores.js';
import { SESSION, SummarizedSessions, turns, user } from './summarized-sessions.js';

describe.each(storeOfEachKind)('an event with the id of a later summary, on $name', (store) => {
  it('does not prevent the summary, and the model is called once', async () => {
    const open = await SummarizedSessions.open(store, { events: 7, keepRecentEvents: 2 });
    try {
      for (const id of ['summary:6', 'summary:6:0']) {
        await open.sessions.appendEvent({ session: SESSION, event: { ...user(id), id } });
      }
      await open.append(...turns(1, 3));
      await open.settle();
      expect(await open.view()).toEqual(['= summary 1', 'q3', 'a3']);
      expect(open.model.requests).toHaveLength(1);
      await open.append(...turns(4, 4));
      await open.settle();
      expect(open.model.requests).toHaveLength(1);
    } finally {
      await open.destroy();
    }
  });
});
