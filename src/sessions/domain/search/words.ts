/** A word of a search. */
export interface SearchedWord {
  readonly word: string;
  /** Whether longer words that begin with it are found too. */
  readonly isBeginning: boolean;
}

/** Finds what is a word, or several in a script without spaces. */
export const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const IN_WORDS = String.raw`[\p{L}\p{N}\p{M}]`;
/** Scripts without spaces between words. */
const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;
const RUN = new RegExp(`[${IN_WORDS}&&[${UNSPACED}]]+|[${IN_WORDS}--[${UNSPACED}]]+`, 'gv');
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'u');
const MARKS = /[\u0300-\u036f]/g;
const HUMP = /(?=\p{Lu})(?<=[\p{Ll}\p{N}])/gu;
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
  const parted = withoutHumps(text);
  const runs = new Set([...splitIntoRuns(foldText(text)), ...(parted === text ? [] : splitIntoRuns(foldText(parted)))]);
  return new Set([...runs].flatMap(wordsOfRun));
}

/**
 * Those words of a search by which a text is found. Only what they stand in is split: that is little of most texts.
 *
 * @example wordsFoundIn('My orders', wordsOfSearch('order 7')); // [{ word: 'order', isBeginning: true }]
 */
export function wordsFoundIn(text: string, searched: readonly SearchedWord[]): SearchedWord[] {
  const folded = foldText(text);
  const possible = searched.filter(({ word }) => folded.includes(word));
  if (possible.length === 0) return [];
  const whole = new SplitRuns(splitIntoRuns(folded));
  let parted: SplitRuns | undefined;
  // Of scripts without spaces, each pair of characters is a word.
  return possible.filter((each) => {
    if (IS_UNSPACED.test(each.word) || whole.have(each)) return true;
    parted ??= new SplitRuns(splitIntoRuns(foldText(withoutHumps(text))).filter((run) => !whole.words.has(run)));
    return parted.have(each);
  });
}

/** The runs of a text, each once. One is split if it is asked for. */
class SplitRuns {
  readonly words: Map<string, readonly string[] | undefined>;

  constructor(runs: readonly string[]) {
    this.words = new Map(runs.map((run) => [run, undefined]));
  }

  have({ word, isBeginning }: SearchedWord): boolean {
    for (const run of this.words.keys()) {
      if (!run.includes(word)) continue;
      const words = this.words.get(run) ?? wordsOfRun(run);
      this.words.set(run, words);
      if (words.some((each) => (isBeginning ? each.startsWith(word) : each === word))) return true;
    }
    return false;
  }
}

/**
 * The words of a search, each once.
 *
 * @example wordsOfSearch('Order 7'); // [{ word: 'order', isBeginning: true }, { word: '7', isBeginning: false }]
 */
export function wordsOfSearch(text: string): SearchedWord[] {
  const words = new Map<string, SearchedWord>();
  for (const run of splitIntoRuns(foldText(text))) {
    const characters = Array.from(run).slice(0, MOST_CHARACTERS);
    const isPair = IS_UNSPACED.test(run) && characters.length > 1;
    const found = isPair ? pairCharacters(characters).slice(0, -1) : [characters.join('')];
    const isBeginning = !isPair && (IS_UNSPACED.test(run) || characters.length >= SHORTEST_BEGINNING);
    for (const word of found) words.set(word, { word, isBeginning });
  }
  return [...words.values()];
}

function withoutHumps(text: string): string {
  return text.replace(HUMP, ' ');
}

/** What is of one kind of script, and has nothing in between. */
function splitIntoRuns(folded: string): readonly string[] {
  return folded.match(RUN) ?? [];
}

function wordsOfRun(run: string): readonly string[] {
  if (IS_UNSPACED.test(run)) return pairCharacters(Array.from(run));
  if (run.length < COMPOUND) return [run];
  const characters = Array.from(run.slice(0, 2 * MOST_CHARACTERS)).slice(0, MOST_CHARACTERS);
  const word = characters.join('');
  if (characters.length < COMPOUND || !ONLY_LETTERS.test(run)) return [word];
  const parts = characters.slice(SHORTEST_BEGINNING, 1 - SHORTEST_PART);
  return [word, ...parts.map((_, index) => characters.slice(SHORTEST_BEGINNING + index).join(''))];
}

/** Each character with the one after it; the last one alone. */
function pairCharacters(characters: readonly string[]): string[] {
  return characters.map((character, index) => character + (characters[index + 1] ?? ''));
}
