import { bestCut, segmentSentences } from '../text-boundaries.js';

const LINE_BREAKS = /[\n\r\v\f\u0085\u2028\u2029]+/;
/** Segmenting costs length times sentences: a book in one line is read in pieces. */
const PIECE_LENGTH = 1_000;
/** A sentence may end before the end of the text. */
const INNER_END = /\p{Sentence_Terminal}.*\S/u;
/** What is no sentence yet: a number of a list, a title in front of a name. */
const UNFINISHED = /^.{0,4}$|(?:^|[^\p{L}])(?:dr|mr|mrs|ms|prof|st|nr|vs|e\.g|i\.e|z\.b|bzw|ca|approx)\.\s*$/iu;

/** The sentences of a text, trimmed and in order; a line break ends one too. */
export function* sentencesOf(text: string): Generator<string> {
  for (const line of text.split(LINE_BREAKS)) {
    for (const piece of piecesOf(line)) {
      for (const sentence of joined(INNER_END.test(piece) ? segmentSentences(piece) : [piece])) {
        const trimmed = sentence.trim();
        if (trimmed !== '') yield trimmed;
      }
    }
  }
}

function* piecesOf(line: string): Generator<string> {
  let rest = line;
  while (rest.length > PIECE_LENGTH) {
    const end = bestCut(rest, PIECE_LENGTH).at;
    // A single character that is longer than a piece: nobody reads on.
    if (end === 0) return;
    yield rest.slice(0, end);
    rest = rest.slice(end);
  }
  yield rest;
}

function* joined(segments: readonly string[]): Generator<string> {
  let begun = '';
  for (const segment of segments) {
    begun += segment;
    if (UNFINISHED.test(begun.slice(-20))) continue;
    yield begun;
    begun = '';
  }
  if (begun !== '') yield begun;
}
