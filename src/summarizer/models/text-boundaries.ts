/** What a text may be cut between. */
type Granularity = 'grapheme' | 'word' | 'sentence';

/** One fixed locale, so that the same text is cut in the same place on every machine. */
const LOCALE = 'en';
const segmenters: Readonly<Record<Granularity, Intl.Segmenter>> = {
  grapheme: new Intl.Segmenter(LOCALE, { granularity: 'grapheme' }),
  word: new Intl.Segmenter(LOCALE, { granularity: 'word' }),
  sentence: new Intl.Segmenter(LOCALE, { granularity: 'sentence' }),
};

/** How far back a sentence or word may begin. Segmenting costs length times segments, so it only ever sees so much. */
const WINDOW = 1_000;
/** What comes after a boundary says whether it is one. */
const LOOKAHEAD = 50;

/** Where a text may be cut. */
export interface Cut {
  readonly at: number;
  readonly isSentenceEnd: boolean;
}

/**
 * The best place to cut at or before `at`: the end of a sentence, else of a word, else of a grapheme. Sentences and words
 * count only where they leave at least half. It is 0 where the first grapheme is longer than `at`.
 */
export function bestCut(text: string, at: number): Cut {
  const sentence = boundaryBefore('sentence', text, at);
  if (sentence > at / 2) return { at: graphemeBoundary(text, sentence), isSentenceEnd: true };
  const word = boundaryBefore('word', text, at);
  return { at: graphemeBoundary(text, word > at / 2 ? word : at), isSentenceEnd: false };
}

/** The sentences of a short text, which together are the text again. */
export function segmentSentences(text: string): string[] {
  return Array.from(segmenters.sentence.segment(text), ({ segment }) => segment);
}

/** 0 where none is near. */
function boundaryBefore(granularity: Granularity, text: string, at: number): number {
  const from = Math.max(0, at - WINDOW);
  const found = segmenters[granularity].segment(text.slice(from, at + LOOKAHEAD)).containing(at - from);
  return found === undefined || found.index === 0 ? 0 : from + found.index;
}

/** Looks at all of the text before: a flag of two letters or a family of four faces may begin anywhere. */
function graphemeBoundary(text: string, at: number): number {
  return segmenters.grapheme.segment(text.slice(0, at + LOOKAHEAD)).containing(at)?.index ?? at;
}
