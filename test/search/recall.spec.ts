import { testStores } from '../support/stores.js';
import { CONVERSATIONS, type ExpectedHit, QUESTIONS, SEARCHES } from './recall.js';
import { openSearch, type SearchedSessions, USER } from './support.js';

describe.each(testStores)('The recall of a search in $name', (store) => {
  let opened: SearchedSessions;
  beforeAll(async () => {
    opened = await openSearch(store);
    for (const [session, sentences] of Object.entries(CONVERSATIONS)) await opened.say(session, ...sentences);
    await opened.indexed();
  });
  afterAll(() => opened.destroy());

  it('is complete: each of 50 searches in five languages finds its sentence, and no other one', async () => {
    const wrong: unknown[] = [];
    for (const expected of SEARCHES) {
      const { hits } = await opened.search.searchEvents({ ...USER, text: expected.text });
      if (hits.length !== 1 || !isHit(hits[0], expected)) wrong.push({ expected, hits });
    }
    expect(SEARCHES).toHaveLength(50);
    expect(wrong).toEqual([]);
  });

  it('is complete for questions: by any of their words, the sentence that answers them is the first', async () => {
    const wrong: unknown[] = [];
    for (const expected of QUESTIONS) {
      const { hits } = await opened.search.searchEvents({ ...USER, text: expected.text, match: 'any' });
      if (!isHit(hits[0], expected)) wrong.push({ expected, hits: hits.slice(0, 3) });
    }
    expect(wrong).toEqual([]);
  });
});

function isHit(hit: { readonly sessionId: string; readonly seq: number } | undefined, expected: ExpectedHit): boolean {
  return hit?.sessionId === expected.session && hit.seq === expected.seq;
}
