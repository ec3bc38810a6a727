import { SessionRetention, SessionService } from '../../src/index.js';
import { SessionSearch } from '../../src/search/index.js';
import { testStores } from '../support/stores.js';
import { openSearch, type SearchedSessions, untilIndexed, USER } from './support.js';

const HOSTILE_TEXTS = [
  '"',
  "'",
  '*',
  'order*',
  '"order" OR "secret"',
  'order NEAR secret',
  'NEAR(order secret, 5)',
  '-order +secret',
  'order & !secret | (x)',
  "order' OR 1=1 --",
  '%',
  '_',
  'words:order',
  '@distance >order <order ~order (order)',
  '\\',
  '\u0000order',
  'order:*',
  '{order} ^order',
  '🎉',
  'ﷺ',
];

describe.each(testStores)('Search in $name', (store) => {
  let opened: SearchedSessions;
  beforeEach(async () => {
    opened = await openSearch(store);
  });
  afterEach(() => opened.destroy());

  const seqsOf = async (text: string, more: object = {}): Promise<string[]> => {
    const { hits } = await opened.search.searchEvents({ ...USER, text, ...more });
    return hits.map(({ sessionId, seq }) => `${sessionId}:${seq}`);
  };

  const refused = (request: object): Promise<unknown> => opened.search.searchEvents({ ...USER, text: 'x', ...request });

  it('forgets what is redacted at once, also what was read before', async () => {
    await opened.say('s-1', 'the canary of my order', 'thanks');
    await opened.indexed();
    expect(await seqsOf('canary')).toEqual(['s-1:1']);
    await opened.sessions.redactEvent({ ...USER, sessionId: 's-1', seq: 1, reason: 'a card number' });
    expect(await seqsOf('canary')).toEqual([]);
    await opened.indexed();
    expect(await seqsOf('canary')).toEqual([]);
    expect(await seqsOf('redacted')).toEqual([]);
    expect(await seqsOf('thanks')).toEqual(['s-1:2']);
  });

  it('finds what retention left of an event, and no more what it took', async () => {
    const parts = [
      { text: 'the canary of my order' },
      { functionCall: { id: 'c', name: 'find', args: { q: 'parrot' } } },
    ];
    const session = await opened.sessions.createSession({ ...USER, sessionId: 's-1' });
    await opened.sessions.append({ session, event: { author: 'agent', content: { role: 'model', parts } } });
    await opened.indexed();
    expect([await seqsOf('canary'), await seqsOf('parrot')]).toEqual([['s-1:1'], ['s-1:1']]);
    opened.clock.advanceSeconds(2 * 86_400);
    await new SessionRetention({ sessions: opened.sessions, rules: [{ kinds: ['toolCalls'], keep: '1d' }] }).apply();
    expect([await seqsOf('canary'), await seqsOf('parrot')]).toEqual([['s-1:1'], []]);
    await opened.indexed();
    expect([await seqsOf('canary'), await seqsOf('parrot')]).toEqual([['s-1:1'], []]);
  });

  it('shows where a hit is, who said it, when, and what stands around it', async () => {
    await opened.say('s-1', `${'before '.repeat(40)}the REFUND of my order ${'after '.repeat(60)}`);
    await opened.indexed();
    const page = await opened.search.searchEvents({ ...USER, text: 'refund' });
    const { events } = await opened.sessions.listEvents({ ...USER, sessionId: 's-1' });
    expect(page).toEqual({
      isComplete: true,
      hits: [
        {
          sessionId: 's-1',
          seq: 1,
          id: events[0]?.id,
          author: 'user',
          at: events[0]?.timestamp,
          score: 1,
          snippet: expect.stringMatching(/^… before .*the REFUND of my order after .* …$/),
        },
      ],
    });
  });

  it('lists the best hits first, of these the newest, and each once over all pages', async () => {
    for (let number = 1; number <= 7; number++) await opened.say(`s-${number % 2}`, `order ${number}`);
    await opened.say('s-2', 'order refund');
    await opened.indexed();
    for (const match of ['all', 'any'] as const) {
      const text = match === 'all' ? 'order' : 'order refund';
      const whole = await seqsOf(text, { match });
      expect(whole).toHaveLength(8);
      expect(whole[0]).toBe('s-2:1');
      const paged: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await opened.search.searchEvents({ ...USER, text, match, limit: 3, cursor });
        paged.push(...page.hits.map(({ sessionId, seq }) => `${sessionId}:${seq}`));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(paged).toEqual(whole);
    }
    expect(await seqsOf('order')).toEqual(['s-2:1', 's-1:4', 's-0:3', 's-1:3', 's-0:2', 's-1:2', 's-0:1', 's-1:1']);
  });

  it('looks at one session, or at later events only, if it is asked to', async () => {
    await opened.say('s-1', 'order one', 'order two');
    await opened.say('s-2', 'order three');
    await opened.indexed();
    expect(await seqsOf('order', { sessionId: 's-1' })).toEqual(['s-1:2', 's-1:1']);
    expect(await seqsOf('order', { sessionId: 'other' })).toEqual([]);
    const { events } = await opened.sessions.listEvents({ ...USER, sessionId: 's-1' });
    expect(await seqsOf('order', { afterTimestamp: (events[0]?.timestamp ?? 0) + 1 })).toEqual(['s-2:1', 's-1:2']);
  });

  it('finds tools, rewound events and those under a summary, but no summary', async () => {
    await opened.say('s-1', 'the first wish', 'a second wish');
    const session = await opened.sessions.getSession({ ...USER, sessionId: 's-1' });
    if (!session) throw new Error('There is no session');
    const call = { id: 'c', name: 'get_weather', args: { city: 'Lissabon' } };
    const parts = [{ functionCall: call }];
    await opened.sessions.appendEvent({ session, event: { author: 'agent', content: { role: 'model', parts } } });
    const response = { id: 'c', name: 'get_weather', response: { sky: 'thunderstorm' } };
    await opened.sessions.appendEvent({
      session,
      event: { author: 'agent', content: { role: 'user', parts: [{ functionResponse: response }] } },
    });
    await opened.sessions.rewindSession({ ...USER, sessionId: 's-1', toSeq: 1 });
    await opened.say('s-1', 'go on');
    await opened.sessions.appendEvent({
      session,
      event: {
        author: 'system',
        content: { role: 'user', parts: [{ text: 'A summary of each wish' }] },
        actions: { compaction: { fromSeq: 1, toSeq: 1 } },
      },
    });
    await opened.indexed();
    expect(await seqsOf('wish')).toEqual(['s-1:2', 's-1:1']);
    expect(await seqsOf('weather lissabon')).toEqual(['s-1:3']);
    expect(await seqsOf('thunder')).toEqual(['s-1:4']);
  });

  it('never finds what other users or other apps said, whatever their ids are', async () => {
    const others = ['bob', 'ann%', "ann' OR 'a'='a", '*', 'ann" OR "b', 'Ann', 'ann\\'].map((userId) => ({
      appName: 'shop',
      userId,
    }));
    const apps = ['shop2', 'sho_', "shop' --", 'SHOP'].map((appName) => ({ appName, userId: 'ann' }));
    await opened.say('s-1', 'my secret order');
    for (const other of [...others, ...apps]) {
      const session = await opened.sessions.createSession({ ...other, sessionId: 's-1' });
      await opened.sessions.appendEvent({
        session,
        event: { author: 'user', content: { role: 'user', parts: [{ text: 'another secret order' }] } },
      });
    }
    await opened.indexed();
    expect(await seqsOf('secret')).toEqual(['s-1:1']);
    for (const other of [...others, ...apps]) {
      const { hits } = await opened.search.searchEvents({ ...other, text: 'secret' });
      expect(hits.map(({ snippet }) => snippet)).toEqual(['another secret order']);
    }
    const nobody = await opened.search.searchEvents({ appName: 'shop', userId: 'nobody', text: 'secret' });
    expect(nobody.hits).toEqual([]);
  });

  it('takes any text as words, none of them as an operator', async () => {
    await opened.say('s-1', 'one order', 'a secret');
    await opened.indexed();
    for (const text of HOSTILE_TEXTS) {
      for (const match of ['all', 'any'] as const) {
        const { hits } = await opened.search.searchEvents({ ...USER, text, match });
        expect(hits.length).toBeLessThanOrEqual(match === 'all' ? 1 : 2);
      }
    }
    expect(await seqsOf('"order" OR "secret"')).toEqual([]);
    expect(await seqsOf('-order')).toEqual(['s-1:1']);
    expect(await seqsOf('*')).toEqual([]);
  });

  it('refuses a text that is empty or too long, and a cursor of somebody else', async () => {
    for (const text of ['', '  ', undefined, 7, 'x'.repeat(1_001)]) {
      await expect(refused({ text })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    }
    const words = Array.from({ length: 65 }, (_, index) => `w${index}`).join(' ');
    for (const wrong of [
      { text: words },
      { limit: 0 },
      { limit: 51 },
      { match: 'some' },
      { afterTimestamp: -1 },
      { userId: '' },
    ]) {
      await expect(refused(wrong)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    }
    for (const fields of [
      ['search'],
      ['search', [1e9], [], []],
      ['search', [1], ['x', 1, 's', 1], []],
      ['search', [1], [1, 1, 's'], []],
      ['search', [1], [1, 1, 's', 1, 1], []],
      ['search', [0], [1, 1, 's', 1], []],
      ['search', [1, 1], [1, 1, 's', 1], []],
      ['search', [], [1, 1, 's', 1], [1, 's', 1]],
      ['search', [1], [1, 1, '', 1], [1, 's', 1]],
      ['search', [1], [1, 1, 's', -1], [1, 's', 1]],
      ['search', [1], [], [1, 's', 1]],
      ['search', [], [], []],
      ['search', [], [], [1, 's']],
      ['search', [], [], [1, '..', 1]],
      ['other', [], [], [1, 's', 1]],
      // The cursor of a store of the other kind.
      opened.search.hasIndex ? ['search', [], [], [1, 's', 1]] : ['search', [1], [1, 1, 's', 1], []],
    ]) {
      const cursor = Buffer.from(JSON.stringify(fields)).toString('base64url');
      await expect(refused({ cursor })).rejects.toMatchObject({ code: 'INVALID_INPUT', path: 'cursor' });
    }
  });

  it('refuses fields that it does not know, and says which one was meant', async () => {
    await expect(refused({ lmit: 1 })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      path: 'lmit',
      message: expect.stringContaining('did you mean limit?'),
    });
    await expect(refused({ tenant: 'x' })).rejects.toMatchObject({
      path: 'tenant',
      message: expect.stringContaining('there are appName, userId, text'),
    });
    const around = { ...USER, sessionId: 's', seq: 1, befor: 1 };
    await expect(opened.search.eventsAround(around)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      path: 'befor',
      message: expect.stringContaining('did you mean before?'),
    });
  });

  it('stores long texts up to their limit, and whatever characters they have', async () => {
    const nul = 'zero\u0000width \ud83c\udf89';
    await opened.say('s-1', `${'filler '.repeat(1_200)}beyond`, nul, 'plain');
    await opened.indexed();
    expect(await seqsOf('filler')).toEqual(['s-1:1']);
    expect(await seqsOf('beyond')).toEqual([]);
    expect(await seqsOf('zero width')).toEqual(['s-1:2']);
  });

  it('forgets deleted sessions, also if their id is taken again', async () => {
    await opened.say('s-1', 'my order');
    await opened.indexed();
    await opened.sessions.deleteSession({ ...USER, sessionId: 's-1' });
    expect(await seqsOf('order')).toEqual([]);
    await opened.say('s-1', 'something else');
    await opened.indexed();
    expect(await seqsOf('order')).toEqual([]);
    expect(await seqsOf('else')).toEqual(['s-1:1']);
  });

  it('forgets erased users, in the index as well, also if an event is handled after it', async () => {
    await opened.say('s-1', 'my order');
    await opened.indexed();
    const { storage } = opened.opened;
    const { incarnation = '' } = (await storage.read({ key: { ...USER, sessionId: 's-1' } }))?.record ?? {};
    await opened.sessions.eraseUser(USER);
    expect(await seqsOf('order')).toEqual([]);
    const entry = { key: { ...USER, sessionId: 's-1' }, incarnation, seq: 1, author: 'user', at: 1, text: 'my order' };
    await storage.search?.add([{ ...entry, terms: ['qtest'] }], false);
    expect((await opened.opened.raw()).text).not.toContain('my order');
    expect(await storage.search?.clear({}, 10)).toBe(storage.search && 0);
  });

  it('reads what was said around a hit', async () => {
    await opened.say('s-1', ...Array.from({ length: 12 }, (_, index) => `order ${index + 1}`));
    const around = async (request: { seq: number; before?: number; after?: number }): Promise<number[]> => {
      const { events } = await opened.search.eventsAround({ ...USER, sessionId: 's-1', ...request });
      return events.map(({ seq }) => seq);
    };
    expect(await around({ seq: 6 })).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(await around({ seq: 6, before: 1, after: 2 })).toEqual([5, 6, 7, 8]);
    expect(await around({ seq: 1, before: 3, after: 0 })).toEqual([1]);
    expect(await around({ seq: 12, before: 0, after: 50 })).toEqual([12]);
    await expect(around({ seq: 0 })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(around({ seq: 1, before: 51 })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(opened.search.eventsAround({ ...USER, sessionId: 'missing', seq: 1 })).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
  });

  it('reads a hit and what is next to it, also after more than a page may hold', async () => {
    const small = new SessionService({ storage: opened.opened.storage, limits: { maxPageBytes: 2_000 } });
    const search = new SessionSearch({ sessions: small });
    await opened.say('s-1', ...Array.from({ length: 12 }, (_, index) => `order ${index + 1} ${'x'.repeat(500)}`));
    const around = async (request: object): Promise<number[]> => {
      const { events } = await search.eventsAround({ ...USER, sessionId: 's-1', seq: 10, ...request });
      return events.map(({ seq }) => seq);
    };
    expect(await around({ before: 9, after: 2 })).toEqual([9, 10]);
    expect(await around({ before: 1, after: 2 })).toEqual([9, 10]);
    expect(await around({ before: 0, after: 2 })).toEqual([10, 11]);
    await small.close();
  });

  it('finds the same after the index was made again', async () => {
    await opened.say('s-1', 'my order', 'my refund');
    await opened.say('s-2', 'an order');
    await opened.indexed();
    const before = await seqsOf('order');
    const rebuilt = opened.search.hasIndex ? { sessions: 2, events: 3 } : { sessions: 0, events: 0 };
    for (const owner of [{}, { appName: 'shop' }, USER]) {
      expect(await opened.search.rebuild(owner)).toEqual(rebuilt);
      expect(await seqsOf('order')).toEqual(before);
    }
    await expect(opened.search.rebuild({ userId: 'ann' })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  it('finds what was said before anybody searched, and indexes an event once however often it is handled', async () => {
    await opened.say('s-1', 'my order');
    await opened.indexed();
    await opened.search.stop();
    await opened.sessions.consumers.remove('search-index');
    const again = new SessionSearch({ sessions: opened.sessions, pollMs: 10 });
    await again.start();
    await untilIndexed(again);
    expect(await seqsOf('order')).toEqual(['s-1:1']);
    await again.stop();
  });
});

describe.each(testStores)('Search in $name, of a service that forgets', (store) => {
  it('finds no trimmed and no expired events', async () => {
    const opened = await openSearch(store, {
      history: { maxEvents: 5, keepHistory: false },
      ttl: { enabled: true, sessionSeconds: 1_000 },
    });
    try {
      await opened.say('s-1', ...Array.from({ length: 130 }, (_, index) => `wish ${index + 1}`));
      await opened.sessions.whenIdle();
      await opened.say('s-1', 'the last wish');
      await opened.indexed();
      const { firstSeq } = await opened.sessions.listEvents({ ...USER, sessionId: 's-1', limit: 1 });
      expect(firstSeq).toBeGreaterThan(100);
      const { hits } = await opened.search.searchEvents({ ...USER, text: 'wish', limit: 50 });
      expect(Math.min(...hits.map(({ seq }) => seq))).toBe(firstSeq);
      expect((await opened.opened.raw()).text).not.toContain('wish 99');
      opened.clock.advanceSeconds(2_000);
      expect((await opened.search.searchEvents({ ...USER, text: 'wish' })).hits).toEqual([]);
      await opened.sessions.purgeExpired();
      expect((await opened.search.searchEvents({ ...USER, text: 'wish' })).hits).toEqual([]);
    } finally {
      await opened.destroy();
    }
  });
});

it('Search needs a service of this package', () => {
  expect(() => new SessionSearch({ sessions: {} as SessionService })).toThrow('sessions');
  expect(() => new SessionSearch({ sessions: {} as SessionService, app: ['x'] } as never)).toThrow('app is no option');
});
