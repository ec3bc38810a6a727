import { createHash } from 'node:crypto';
import type { UserKey } from '../values/ids.js';
import type { SearchedWord } from './words.js';

/** A word as indexes have it, with its owner: small letters and digits only, which no query language understands otherwise. */
export interface SearchTerm {
  readonly term: string;
  /** Whether longer terms that begin with it are found too. */
  readonly isBeginning: boolean;
}

/** MySQL leaves out words of more than 84 characters. */
const MOST_CHARACTERS = 72;
const TAG_CHARACTERS = 8;

/**
 * Makes terms of the words of one user. An index of all users then has a list of its own for each word of each user, so that a search
 * reads nothing of others, and no word is too short or too common for a database.
 */
export class UserTerms {
  readonly #tag: string;

  constructor({ appName, userId }: UserKey) {
    const digest = createHash('sha256').update(`${appName}\u0000${userId}`).digest('hex');
    this.#tag = `q${digest.slice(0, TAG_CHARACTERS)}`;
  }

  ofText(words: Iterable<string>): string[] {
    return [...new Set(Array.from(words, (word) => this.#termOf(word)))];
  }

  ofSearch({ word, isBeginning }: SearchedWord): SearchTerm {
    return { term: this.#termOf(word), isBeginning };
  }

  #termOf(word: string): string {
    let term = '';
    for (const character of word) {
      const written = writtenAs(character);
      if (term.length + written.length > MOST_CHARACTERS) break;
      term += written;
    }
    return this.#tag + term;
  }
}

/** `z` begins what stands for another character, so that beginnings stay beginnings. */
function writtenAs(character: string): string {
  if (/^[0-9a-y]$/.test(character)) return character;
  if (character === 'z') return 'zz';
  return Array.from({ length: character.length }, (_, index) => unitText(character.charCodeAt(index))).join('');
}

function unitText(unit: number): string {
  return `z${unit.toString(16).padStart(4, '0')}`;
}
