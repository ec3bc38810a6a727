import fc from 'fast-check';
import { InMemorySessionService } from '../../src/index.js';
import { SessionSearch, recallTools } from '../../src/search/index.js';
import { searchedText } from '../../src/sessions/domain/search/event-text.js';
import { snippetOf } from '../../src/sessions/domain/search/snippet.js';
import { UserTerms } from '../../src/sessions/domain/search/terms.js';
import { foldText, wordsFoundIn, wordsOfSearch, wordsOfText } from '../../src/sessions/domain/search/words.js';

const USER = { appName: 'shop', userId: 'ann' };

describe('The text of an event that is searched', () => {
  it('has what was said, tools with arguments and responses, and code; no thoughts, data or files', () => {
    const parts = [
      { text: 'Look\n\tat this' },
      { text: 'let me think', thought: true },
      { inlineData: { mimeType: 'image/png', data: 'aGVsbG8=' } },
      { fileData: { fileUri: 'gs://secret' } },
      {
        functionCall: { name: 'find', args: { query: 'shoes', sizes: [41, 42], exact: true, image: 'A'.repeat(300) } },
      },
      { functionResponse: { name: 'find', response: { found: 2, none: null, url: 'data:image/png;base64,xyz' } } },
      { executableCode: { code: 'print(1)' } },
      { codeExecutionResult: { output: '1' } },
    ];
    expect(searchedText({ author: 'agent', content: { parts } })).toBe(
      'Look at this find query shoes sizes 41 42 exact true image find found 2 none url print(1) 1',
    );
  });

  it('has nothing of the tools that search it, which would find their own answers', async () => {
    const sessions = new InMemorySessionService();
    const session = await sessions.createSession({ ...USER, sessionId: 's-1' });
    await sessions.appendEvent({ session, event: { author: 'user', content: { parts: [{ text: 'shoes' }] } } });
    const { search_sessions, read_session_window } = recallTools({ search: new SessionSearch({ sessions }), ...USER });
    const args = { query: 'shoes', limit: 5 };
    const place = { session_id: 's-1', seq: 1, before: 1, after: 1 };
    const memory = { memories: [{ content: 'shoes', author: 'user' }] };
    const calls = [
      ['search_sessions', args, await search_sessions.run(args)],
      ['read_session_window', place, await read_session_window.run(place)],
      ['load_memory', { query: 'shoes' }, memory],
    ] as const;
    for (const [name, given, answer] of calls) {
      expect(JSON.stringify(answer)).toContain('shoes');
      // Frameworks store an answer as it is, in a field, or as text.
      for (const response of [answer, { output: answer }, { output: JSON.stringify(answer) }]) {
        const parts = [
          { text: 'One moment' },
          { functionCall: { name, args: given } },
          { functionResponse: { name, response: response as object } },
        ];
        expect(searchedText({ author: 'agent', content: { parts } })).toBe('One moment');
      }
    }
  });

  it('has what tools of an app do that have the name of one of these', () => {
    for (const name of ['load_memory', 'preload_memory', 'search_sessions', 'read_session_window']) {
      const parts = [
        { functionCall: { name, args: { key: 'size' } } },
        { functionResponse: { name, response: { value: 'large' } } },
      ];
      expect(searchedText({ author: 'agent', content: { parts } })).toBe(`${name} key size ${name} value large`);
    }
  });

  it('is empty for events that say nothing, and for summaries', () => {
    expect(searchedText({ author: 'system', actions: { stateDelta: { secret: 'x' } } })).toBe('');
    const content = { parts: [{ text: 'They talked about shoes' }] };
    expect(searchedText({ author: 'system', content, actions: { compaction: { fromSeq: 1, toSeq: 2 } } })).toBe('');
  });

  it('ends after 8,000 characters, and never within one', () => {
    const text = searchedText({ content: { parts: [{ text: `${'x'.repeat(7_999)}\ud83c\udf89` }] } });
    expect(text).toBe('x'.repeat(7_999));
  });
});

describe('The words of a search', () => {
  it('are the same in any case, with or without accents, and in full width', () => {
    for (const [one, other] of [
      ['ÀÉÎ', 'aei'],
      ['STRASSE', 'straße'],
      ['ＦＵＬＬ', 'full'],
      ['Ёлка', 'елка'],
      ['한국어', '한국어'.normalize('NFD')],
    ] as const) {
      expect(wordsOfText(one)).toEqual(wordsOfText(other));
    }
  });

  it('find parts of names in code, parts of long words, and pairs of characters where there are no spaces', () => {
    expect([...wordsOfText('getUser')]).toEqual(['getuser', 'get', 'user']);
    expect([...wordsOfText('Grundschule')]).toEqual(['grundschule', 'ndschule', 'dschule', 'schule', 'chule', 'hule']);
    expect([...wordsOfText('机票!票')]).toEqual(['机票', '票']);
    expect([...wordsOfText('แม๚หม๏แม')]).toEqual(['แม', 'ม', 'หม']);
    expect(wordsOfSearch('机票')).toEqual([{ word: '机票', isBeginning: false }]);
    expect(wordsOfSearch('票')).toEqual([{ word: '票', isBeginning: true }]);
  });

  it('are whole if they are short, and beginnings otherwise', () => {
    expect(wordsOfSearch('in the in')).toEqual([
      { word: 'in', isBeginning: false },
      { word: 'the', isBeginning: true },
    ]);
  });
});

describe('The words of a search that a text has', () => {
  const PIECES = [
    'water',
    'Under',
    'getUser',
    'ID7',
    'Straße',
    'Ёлка',
    '机票',
    'ー',
    'กรุงเทพ๚',
    '한국',
    'é',
    'ß',
    '𝐁ig',
    '🎉',
  ];
  const GLUE = ['', '', ' ', '_', '-', '\u0301', '. '];

  it('are those that stand in the list of all words of the text', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...PIECES, ...GLUE), { maxLength: 60 }), searches(), (pieces, search) => {
        const text = pieces.join('');
        const all = [...wordsOfText(text)];
        const expected = wordsOfSearch(search).filter(
          ({ word, isBeginning }) =>
            foldText(text).includes(word) && all.some((each) => (isBeginning ? each.startsWith(word) : each === word)),
        );
        expect(wordsFoundIn(text, wordsOfSearch(search))).toEqual(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  /** Words, parts of words, and words next to others. */
  function searches(): fc.Arbitrary<string> {
    const piece = fc
      .tuple(fc.constantFrom(...PIECES), fc.nat(3), fc.nat(3))
      .map(([text, from, less]) => text.slice(from, text.length - less));
    return fc.array(fc.oneof(piece, fc.constantFrom(...GLUE)), { maxLength: 5 }).map((parts) => parts.join(''));
  }
});

describe('The terms of a user', () => {
  it('are small letters and digits, long enough for any database, and nobody else has them', () => {
    const words = ['a', 'the', 'zz', 'привет', '机票', '"x*', 'ſ', 'x'.repeat(500), 'ж'.repeat(500), '\ud83c\udf89'];
    const terms = new UserTerms(USER).ofText(words);
    expect(terms).toHaveLength(words.length);
    for (const term of terms) expect(term).toMatch(/^[a-z0-9]{10,81}$/);
    const others = new UserTerms({ appName: 'sho', userId: 'pann' }).ofText(words);
    expect(others.filter((term) => terms.includes(term))).toEqual([]);
  });

  it('begin alike if their words do', () => {
    const terms = new UserTerms(USER);
    for (const [word, beginning] of [
      ['zebra', 'zeb'],
      ['привет', 'при'],
      ['z1', 'z'],
    ] as const) {
      const { term } = terms.ofSearch({ word: beginning, isBeginning: true });
      expect(terms.ofText([word])[0]?.startsWith(term)).toBe(true);
    }
    const { term } = terms.ofSearch({ word: 'z', isBeginning: true });
    expect(terms.ofText(['ж', 'q'])[0]?.startsWith(term)).toBe(false);
  });
});

describe('A snippet', () => {
  it('shows the first word that is searched, whole words around it, and no half characters', () => {
    const text = `${'word '.repeat(100)}the Straße ${'and '.repeat(100)}`;
    const snippet = snippetOf(text, [{ word: 'strasse', isBeginning: true }]);
    expect(snippet).toMatch(/^… word .*the Straße and .* …$/);
    expect(snippet.length).toBeLessThan(220);
    expect(snippetOf('short', [])).toBe('short');
    expect(snippetOf('\ud83c\udf89'.repeat(300), []).isWellFormed()).toBe(true);
  });
});
