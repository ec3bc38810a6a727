/** A word of a search. */
export interface SearchedWord {
  readonly word: string;
  /** Whether longer words that begin with it are found too. */
  readonly isBeginning: boolean;
}

/** Finds what is a word, or several in a script without spaces. */
export const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** Scripts without spaces between words. */
const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;
const RUN = new RegExp(`[${UNSPACED}]+|[^${UNSPACED}]+`, 'gu');
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'u');
const MARKS = /[\u0300-\u036f]/g;
const HUMP = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu;
const ONLY_LETTERS = /^\p{L}+$/u;

/** Longer words are told apart by so many characters. */
const MOST_CHARACTERS = 40;
/** Shorter words are not found by their beginning: `in` is no `invoice`. */
const SHORTEST_BEGINNING = 3;
/** A word of so many letters may be composed of others, each of which finds it. */
const COMPOUND = 10;
const SHORTEST_PART = 4;

/** Texts that differ only in case, accents or width are the same. */
export function foldText(text: string): string {
  return text.normalize('NFKD').replace(MARKS, '').normalize('NFKC').toUpperCase().toLowerCase();
}

/**
 * The words by which a text is found. Chinese, Japanese and Thai are found by each two characters that follow each other.
 *
 * @example wordsOfText('getWeather: São Paulo'); // 'getweather', 'weather', 'sao', 'paulo', …
 */
export function wordsOfText(text: string): Set<string> {
  const words = new Set<string>();
  for (const run of runsOf(text)) addRun(words, run);
  for (const run of runsOf(text.replace(HUMP, ' '))) addRun(words, run);
  return words;
}

/**
 * The words of a search, each once.
 *
 * @example wordsOfSearch('Order 7'); // [{ word: 'order', isBeginning: true }, { word: '7', isBeginning: false }]
 */
export function wordsOfSearch(text: string): SearchedWord[] {
  const words = new Map<string, SearchedWord>();
  for (const run of runsOf(text)) {
    const characters = Array.from(run).slice(0, MOST_CHARACTERS);
    const isPair = IS_UNSPACED.test(run) && characters.length > 1;
    const found = isPair ? pairsOf(characters).slice(0, -1) : [characters.join('')];
    const isBeginning = !isPair && (IS_UNSPACED.test(run) || characters.length >= SHORTEST_BEGINNING);
    for (const word of found) words.set(word, { word, isBeginning });
  }
  return [...words.values()];
}

function runsOf(text: string): string[] {
  return (foldText(text).match(WORD) ?? []).flatMap((word) => word.match(RUN) ?? []);
}

function addRun(words: Set<string>, run: string): void {
  const characters = Array.from(run);
  if (IS_UNSPACED.test(run)) {
    for (const pair of pairsOf(characters)) words.add(pair);
    return;
  }
  const word = characters.slice(0, MOST_CHARACTERS);
  words.add(word.join(''));
  if (word.length < COMPOUND || !ONLY_LETTERS.test(run)) return;
  for (let from = SHORTEST_BEGINNING; from <= word.length - SHORTEST_PART; from++) words.add(word.slice(from).join(''));
}

/** Each character with the one after it; the last one alone. */
function pairsOf(characters: readonly string[]): string[] {
  return characters.map((character, index) => character + (characters[index + 1] ?? ''));
}
