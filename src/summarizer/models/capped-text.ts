import { bestCut } from './text-boundaries.js';

const ELLIPSIS = '…';

/**
 * `text`, or as much of its beginning as has `maxLength` characters (UTF-16, as `length` counts). It ends with a
 * sentence where that keeps at least half, else with a word or a grapheme and `…`; no emoji or accented letter is cut in
 * two. What comes back is well-formed: half a character that was there before becomes U+FFFD.
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
