import { isByUser } from '../../../sessions/domain/event-inspection.js';
import { cappedText } from '../capped-text.js';
import type { ConversationLine } from '../summary-model.js';
import { inBreaths } from './in-breaths.js';
import { sentencesOf } from './sentences.js';
import { termsOf } from './terms.js';

/** A line that is read for an extract. */
export interface SourceLine extends ConversationLine {
  /** It was important enough for the summary before. */
  readonly isEarlier: boolean;
}

/** A sentence that may be picked. */
export interface Candidate {
  readonly author: string;
  readonly text: string;
  readonly isUser: boolean;
  readonly isEarlier: boolean;
  readonly terms: readonly string[];
}

const LONGEST_SENTENCE = 300;
/** Calls and answers of tools are named, not repeated. */
const LONGEST_DATA = 120;
const LONGEST_AUTHOR = 40;
/** JSON, or what was cut from it. */
const DATA = /[{[]\s*["{[\]}]|"\s*:\s*["\d{[tfn]/;

/** Every sentence once, in order: what is said again adds nothing. */
export async function candidatesOf(
  lines: readonly SourceLine[],
  longestSentence: number,
  signal: AbortSignal,
): Promise<Candidate[]> {
  const candidates = new Map<string, Candidate>();
  await inBreaths(sentencesIn(lines), signal, ({ line, sentence }) => {
    const limit = Math.min(longestSentence, looksLikeData(sentence) ? LONGEST_DATA : LONGEST_SENTENCE);
    const text = cappedText(sentence, limit);
    if (text === '' || candidates.has(text)) return;
    const { isEarlier } = line;
    const isUser = isByUser(line);
    candidates.set(text, { author: nameOf(line.author), text, isUser, isEarlier, terms: termsOf(text) });
  });
  return [...candidates.values()];
}

export function looksLikeData(sentence: string): boolean {
  return DATA.test(sentence);
}

function* sentencesIn(lines: readonly SourceLine[]): Generator<{ line: SourceLine; sentence: string }> {
  for (const line of lines) {
    for (const sentence of sentencesOf(line.text)) yield { line, sentence };
  }
}

/** Without what ends a name in an extract, so that nobody can speak in the name of another. */
function nameOf(author: string): string {
  return cappedText(author.replace(/[\s\p{Cc}:]+/gu, ' ').trim(), LONGEST_AUTHOR) || '?';
}
