import { testStores } from '../support/stores.js';
import { NORTH, SOUTH, moveTo } from '../support/team-access.js';
import { openSearch, type SearchedSessions, USER } from './support.js';

describe.each(testStores)('A search within a filter in $name', (store) => {
  let opened: SearchedSessions;
  beforeEach(async () => {
    opened = await openSearch(store);
    await opened.sessions.createSession({ ...USER, sessionId: 'n1', metadata: { ...NORTH, status: 'open' } });
    await opened.sessions.createSession({ ...USER, sessionId: 's1', metadata: SOUTH });
    await opened.sessions.createSession({ ...USER, sessionId: 'n2', metadata: NORTH });
    await opened.sessions.createSession({ ...USER, sessionId: 'none' });
    for (const id of ['s1', 'n1', 'none', 'n2', 's1', 'n1', 'none']) await opened.say(id, 'an order', 'a refund order');
    await opened.indexed();
  });
  afterEach(() => opened.destroy());

  const search = (more: object) =>
    opened.search.searchEvents({ ...USER, text: 'order refund', within: NORTH, ...more });
  const seqsOf = async (more: object): Promise<string[]> =>
    (await search(more)).hits.map(({ sessionId, seq }) => `${sessionId}:${seq}`);

  const pages = async (): Promise<unknown[]> => {
    const all: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await search({ match: 'any', limit: 2, cursor });
      all.push(page);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return all;
  };

  it('finds in the sessions that match, and in no other one', async () => {
    expect(await seqsOf({})).toEqual(['n1:4', 'n2:2', 'n1:2']);
    expect(await seqsOf({ match: 'any' })).toEqual(['n1:4', 'n2:2', 'n1:2', 'n1:3', 'n2:1', 'n1:1']);
    expect(await seqsOf({ within: { ...NORTH, status: 'open' } })).toEqual(['n1:4', 'n1:2']);
    expect(await seqsOf({ within: { labels: { team: 'west' } } })).toEqual([]);
    expect(await seqsOf({ within: undefined })).toHaveLength(7);
    expect(await seqsOf({ sessionId: 'n2' })).toEqual(['n2:2']);
    expect(await seqsOf({ sessionId: 's1' })).toEqual([]);
  });

  it('goes by what a session is now', async () => {
    await moveTo(opened.sessions, 'n1', 'south');
    expect(await seqsOf({})).toEqual(['n2:2']);
    await moveTo(opened.sessions, 's1', 'north');
    expect(await seqsOf({})).toEqual(['s1:4', 'n2:2', 's1:2']);
  });

  it('says the same as if there were no other sessions: in hits, scores and cursors', async () => {
    const among = await pages();
    expect(among).toHaveLength(3);
    for (const sessionId of ['s1', 'none']) await opened.sessions.deleteSession({ ...USER, sessionId });
    expect(await pages()).toEqual(among);
  });

  it('is not led to another session by a forged cursor', async () => {
    const ended = Number.MAX_SAFE_INTEGER;
    for (const fields of [
      ['search', [], [], [ended, 's1', ended]],
      ['search', [1_000], [1_000, ended, 's1', ended], []],
      ['search', [1_000], [1_000, ended, 's1', ended], [ended, 's1', ended]],
    ]) {
      const cursor = Buffer.from(JSON.stringify(fields)).toString('base64url');
      const found = await seqsOf({ cursor }).catch((error: unknown) => error);
      if (Array.isArray(found)) expect(found.filter((place) => !/^n\d:/.test(String(place)))).toEqual([]);
      else expect(found).toMatchObject({ code: 'INVALID_INPUT', path: 'cursor' });
    }
  });

  it('refuses a filter that it does not understand', async () => {
    for (const within of [{ labls: { team: 'north' } }, { labels: { team: undefined } }, 'north', { tags: 'vip' }]) {
      await expect(search({ within })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    }
  });
});
