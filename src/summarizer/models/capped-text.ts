const ELLIPSIS = '…';

/**
 * `text`, cut to at most `maxLength` characters (UTF-16 code units, as `length` counts). The result ends with a sentence
 * if that keeps at least half, else with a word or a grapheme and `…`. It never ends inside an emoji or an accented
 * letter. It is well-formed: a lone surrogate in `text` becomes U+FFFD.
 *
 * @example
 * cappedText('It is done. All is well.', 15); // 'It is done.'
 * cappedText('Incomprehensibilities', 10); // 'Incompreh…'
 */
export function cappedText(text: string, maxLength: number): string {
  const limit = Math.max(0, Math.floor(maxLength));
  if (text.length <= limit) return text.toWellFormed();
  // The rest may be very long and is not needed.
  const start = text.slice(0, limit + 100).toWellFormed();
  const cut = bestCut(start, limit);
  if (cut.isSentenceEnd) return start.slice(0, cut.at).trimEnd();
  const kept = start.slice(0, bestCut(start, Math.max(0, limit - ELLIPSIS.length)).at).trimEnd();
  return kept === '' ? '' : kept + ELLIPSIS;
}

type Granularity = 'grapheme' | 'word' | 'sentence';

/** One fixed locale, so that the same text is cut in the same place on every machine. */
const LOCALE = 'en';
const segmenters: Readonly<Record<Granularity, Intl.Segmenter>> = {
  grapheme: new Intl.Segmenter(LOCALE, { granularity: 'grapheme' }),
  word: new Intl.Segmenter(LOCALE, { granularity: 'word' }),
  sentence: new Intl.Segmenter(LOCALE, { granularity: 'sentence' }),
};

/** How far back a sentence or word may begin. Segmenting costs length times segments, so the input is bounded. */
const WINDOW = 1_000;
/** The segmenter needs the text after a boundary to recognise it. */
const LOOKAHEAD = 50;

/** A position at which a text may be cut. */
export interface Cut {
  readonly at: number;
  readonly isSentenceEnd: boolean;
}

/**
 * The best place to cut at or before `at`: the end of a sentence, else of a word, else of a grapheme. Sentences and words
 * count only if they keep at least half. The result is 0 if the first grapheme is longer than `at`.
 */
export function bestCut(text: string, at: number): Cut {
  const sentence = boundaryBefore('sentence', text, at);
  if (sentence > at / 2) return { at: graphemeBoundary(text, sentence), isSentenceEnd: true };
  const word = boundaryBefore('word', text, at);
  return { at: graphemeBoundary(text, word > at / 2 ? word : at), isSentenceEnd: false };
}

/** The sentences of a short text. Joined, they are the text again. */
export function segmentSentences(text: string): string[] {
  return Array.from(segmenters.sentence.segment(text), ({ segment }) => segment);
}

/** Returns 0 if there is no boundary within the window. */
function boundaryBefore(granularity: Granularity, text: string, at: number): number {
  const from = Math.max(0, at - WINDOW);
  const found = segmenters[granularity].segment(text.slice(from, at + LOOKAHEAD)).containing(at - from);
  return found === undefined || found.index === 0 ? 0 : from + found.index;
}

/** Segments all of the text before `at`: a grapheme such as a flag or a family emoji may begin anywhere. */
function graphemeBoundary(text: string, at: number): number {
  return segmenters.grapheme.segment(text.slice(0, at + LOOKAHEAD)).containing(at)?.index ?? at;
}
