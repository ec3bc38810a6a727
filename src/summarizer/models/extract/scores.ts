import { type Candidate, looksLikeData } from './candidates.js';
import { isQuestion, speaksOfDecision } from './telling-words.js';
import type { TermWeights } from './terms.js';

const NUMBER = /\p{N}/u;
/** A capital letter in the middle of a sentence. */
const NAME = /[\p{L}\p{N},]\s\p{Lu}\p{L}{2,}/u;
const ADDRESS_OR_QUOTE = /:\/\/|\S@\S|[“„«「`]\S/u;
/** "Thanks a lot!" */
const FEW_TERMS = 3;

/** What speaks for a sentence and what against it, added up. */
export function scoreOf({ text, terms, isUser }: Candidate, weights: TermWeights): number {
  const signals: readonly (readonly [boolean, number])[] = [
    [speaksOfDecision(text, terms), 1.2],
    [NUMBER.test(text), 1],
    [NAME.test(text), 0.5],
    [isUser, 0.5],
    [isQuestion(text), 0.3],
    [ADDRESS_OR_QUOTE.test(text), 0.3],
    [isSmallTalk(text, terms), -1],
    [looksLikeData(text), -1.5],
  ];
  return signals.reduce((sum, [holds, points]) => sum + (holds ? points : 0), weights.meanOf(terms));
}

export function isSmallTalk(text: string, terms: readonly string[]): boolean {
  return terms.length < FEW_TERMS && !NUMBER.test(text);
}
