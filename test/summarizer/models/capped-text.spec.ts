import fc from 'fast-check';
import { cappedText } from '../../../src/summarizer/models/capped-text.js';
import { seed } from '../../support/random.js';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const graphemesOf = (text: string) => Array.from(graphemes.segment(text), ({ segment }) => segment);

describe('cappedText', () => {
  it.each([
    ['keeps a short text', 'All is well.', 12, 'All is well.'],
    ['ends with a sentence', 'It is done. All is well.', 15, 'It is done.'],
    ['ends with a Chinese sentence', '今天天气很好。我们去公园吧。', 10, '今天天气很好。'],
    ['ends with a line', '- buy milk\n- buy bread', 15, '- buy milk'],
    ['ends with a word if a sentence would lose too much', 'No. But all the others are well', 20, 'No. But all the…'],
    ['ends inside a word if necessary', 'Incomprehensibilities', 10, 'Incompreh…'],
    ['returns nothing for length 0', 'All is well.', 0, ''],
    ['returns nothing for a negative length', 'All is well.', -5, ''],
    ['does not cut inside a family emoji', '👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 15, '👩‍👩‍👧‍👦…'],
    ['does not cut inside a flag', '🇩🇪🇫🇷🇮🇹', 8, '🇩🇪…'],
    ['does not cut an accent off', 'ee\u0301e\u0301e\u0301', 5, 'ee\u0301…'],
    ['returns nothing of a grapheme that is too long', `e${'\u0301'.repeat(1_000)}`, 100, ''],
    ['replaces a lone surrogate', 'a\ud83d', 5, 'a\ufffd'],
  ])('returns nothing for a single grapheme that is too long', (_, text, maxLength, expected) => {
    expect(cappedText(text, maxLength)).toBe(expected);
  });

  it('is never too long, and keeps whole graphemes of the beginning', () => {
    const pieces = fc.constantFrom(
      'a',
      'Yes',
      '. ',
      '? ',
      ' ',
      '\n',
      '好',
      '。',
      '👩‍👩‍👧‍👦',
      '🇩🇪',
      '\u0301',
      '\u200d',
      'क्षि',
      '\r\n',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), fc.nat(60), (parts, maxLength) => {
        const text = parts.join('');
        const capped = cappedText(text, maxLength);

        expect(capped.length).toBeLessThanOrEqual(maxLength);
        if (capped === text) return;
        const kept = graphemesOf(capped.replace(/…$/, ''));
        expect(graphemesOf(text).slice(0, kept.length)).toEqual(kept);
      }),
      { seed, numRuns: 500 },
    );
  });
});
