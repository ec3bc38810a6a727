import { type SearchedWord, foldText, WORD } from './words.js';

const BEFORE = 60;
const AFTER = 140;

/**
 * The part of a text around the first word that was searched for.
 *
 * @example snippetOf('Hello, where is my order?', [{ word: 'order', isBeginning: true }]);
 */
export function snippetOf(text: string, words: readonly SearchedWord[]): string {
  const at = findFirstMatch(text, words);
  const from = at > BEFORE ? wordStart(text, at - BEFORE) : 0;
  const to = Math.min(text.length, from + BEFORE + AFTER);
  const part = text.slice(from, to).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
  return `${from > 0 ? '… ' : ''}${part.trim()}${to < text.length ? ' …' : ''}`;
}

function findFirstMatch(text: string, words: readonly SearchedWord[]): number {
  for (const { index, 0: found } of text.matchAll(WORD)) {
    const folded = foldText(found);
    const place = words.map(({ word }) => folded.indexOf(word)).find((inside) => inside >= 0);
    // Folding may change the length.
    if (place !== undefined) return index + Math.min(place, found.length - 1);
  }
  return 0;
}

/** After the next space, if it is near: text without spaces is cut anywhere. */
function wordStart(text: string, from: number): number {
  const space = text.indexOf(' ', from);
  return space >= 0 && space < from + BEFORE / 2 ? space + 1 : from;
}
