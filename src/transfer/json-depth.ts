/** Deeper lines are refused before they are parsed: a parser needs long for millions of brackets, and what reads the result recurses. */
const MOST_DEPTH = 1_000;

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [ARRAY, OBJECT, END_OF_ARRAY, END_OF_OBJECT] = [0x5b, 0x7b, 0x5d, 0x7d];

/**
 * Whether a text is nested too deeply to be parsed as JSON. Takes time by its length, and stops at the limit.
 *
 * @example isTooDeep('['.repeat(10_000_000)); // true, after a thousand of them
 */
export function isTooDeep(text: string): boolean {
  if (text.length <= MOST_DEPTH) return false;
  let depth = 0;
  for (let place = 0; place < text.length; place++) {
    const character = text.charCodeAt(place);
    if (character === QUOTE) {
      place = endOfString(text, place + 1);
    } else if (character === ARRAY || character === OBJECT) {
      if (++depth > MOST_DEPTH) return true;
    } else if (character === END_OF_ARRAY || character === END_OF_OBJECT) {
      depth--;
    }
  }
  return false;
}

/** The place of the closing quote: the first with an even number of backslashes before it. */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (first > from && text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}
