import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { SessionSearch } from '../../src/search/index.js';
import { USER } from './support.js';

const SESSIONS = 150;
const EVENTS = 40;

describe('A search without an index', () => {
  it('stops at its bound, says so, and finds the rest page by page, each hit once, while others write', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const search = new SessionSearch({ sessions });
    for (let number = 0; number < SESSIONS; number++) {
      const session = await sessions.createSession({ ...USER, sessionId: `s-${number}` });
      const events = Array.from({ length: EVENTS }, (_, index) => said(index % 8 === 0 ? 'my order' : 'nothing'));
      await sessions.appendEvents({ session, events });
    }
    const found = new Set<string>();
    let [pages, incomplete, hits] = [0, 0, 0];
    let cursor: string | undefined;
    do {
      const page = await search.searchEvents({ ...USER, text: 'order', limit: 50, cursor });
      if (pages === 0) expect(page.isComplete).toBe(false);
      for (const { sessionId, seq } of page.hits) found.add(`${sessionId}:${seq}`);
      hits += page.hits.length;
      pages++;
      incomplete += page.isComplete ? 0 : 1;
      cursor = page.nextCursor;
      expect(page.isComplete || cursor !== undefined).toBe(true);
      const session = await sessions.createSession({ ...USER, sessionId: `later-${pages}` });
      await sessions.appendEvents({ session, events: [said('a later order')] });
    } while (cursor !== undefined);
    expect(found.size).toBe((SESSIONS * EVENTS) / 8);
    expect(hits).toBe(found.size);
    expect(incomplete).toBeGreaterThan(1);
    expect(incomplete).toBeLessThan(pages);
    await sessions.close();
  });

  it('finds the best hits of as many parts as it is asked to read, and each hit once', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const search = new SessionSearch({ sessions });
    const old = await sessions.createSession({ ...USER, sessionId: 'old' });
    await sessions.append({ session: old, event: said('an order of shoes') });
    for (let number = 0; number < 60; number++) {
      const session = await sessions.createSession({ ...USER, sessionId: `s-${number}` });
      await sessions.appendEvents({
        session,
        events: Array.from({ length: EVENTS }, (_, index) => said(index % 20 === 0 ? 'my order' : 'nothing')),
      });
    }
    const request = { ...USER, text: 'order of shoes', match: 'any', limit: 50 } as const;
    expect((await search.searchEvents(request)).hits[0]?.sessionId).not.toBe('old');
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await search.searchEvents({ ...request, parts: 2, cursor });
      found.push(...page.hits.map(({ sessionId, seq }) => `${sessionId}:${seq}`));
      expect(page.isComplete).toBe(true);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect([found[0], found.length, new Set(found).size]).toEqual(['old:1', 121, 121]);
    for (const parts of [0, 11, 1.5, NaN, '2' as never]) {
      await expect(search.searchEvents({ ...request, parts })).rejects.toMatchObject({ path: 'parts' });
    }
    await sessions.close();
  });

  it('leaves the event loop to others, however much it reads', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const search = new SessionSearch({ sessions });
    const session = await sessions.createSession(USER);
    await sessions.appendEvents({ session, events: Array.from({ length: 100 }, () => said('my order')) });
    let [time, turns] = [performance.now(), 0];
    // Each look at the clock is 10 ms later. The first look after a turn of others only notes it.
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => (time += 10));
    const takeTurns = (): void => {
      turns++;
      waiting = setImmediate(takeTurns);
    };
    let waiting = setImmediate(takeTurns);
    const { hits } = await search.searchEvents({ ...USER, text: 'order', limit: 50 });
    clearImmediate(waiting);
    clock.mockRestore();
    expect(hits).toHaveLength(50);
    expect(turns).toBeGreaterThan(40);
    await sessions.close();
  });

  it('finds nothing, and reads nothing, for a text without words', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    await sessions.close();
    const search = new SessionSearch({ sessions });
    expect(await search.searchEvents({ ...USER, text: '*** !' })).toEqual({ hits: [], isComplete: true });
  });
});

function said(text: string): object {
  return { author: 'user', content: { role: 'user', parts: [{ text }] } };
}
