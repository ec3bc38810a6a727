import { setImmediate } from 'node:timers/promises';
import { isByUser } from '../../sessions/domain/event/event-inspection.js';
import { bestCut, cappedText, segmentSentences } from './capped-text.js';
import type { ConversationLine } from './summary-model.js';

/** A line of the conversation or of the previous extract. */
export interface SourceLine extends ConversationLine {
  /** Whether it comes from the previous summary. */
  readonly isEarlier: boolean;
}

/** A sentence that may be selected. */
export interface Candidate {
  readonly author: string;
  readonly text: string;
  readonly isUser: boolean;
  readonly isEarlier: boolean;
  readonly terms: readonly string[];
}

const MAX_SENTENCE_LENGTH = 300;
/** Tool calls and responses are mentioned, not repeated. */
const MAX_DATA_LENGTH = 120;
const MAX_AUTHOR_LENGTH = 40;
const ITEMS_PER_YIELD = 1_000;

/** JSON, or a fragment of it. */
const DATA = /[{[]\s*["{[\]}]|"\s*:\s*["\d{[tfn]/;
/** Each character of a script without spaces counts as a term. As one long term, such a sentence would be small talk. */
const TERM = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{M}\p{N}]+/gu;
/** Quotes and brackets may follow. */
const QUESTION = /[?？؟]["'”’»」』)\]]*$/u;
const NUMBER = /\p{N}/u;
/** A capital letter in the middle of a sentence. */
const NAME = /[\p{L}\p{N},]\s\p{Lu}\p{L}{2,}/u;
const DECISION = new Set(
  `decide decided decides decision agree agreed agrees confirm confirmed confirms approve approved accept accepted reject
  rejected cancel canceled cancelled choose chose chosen must never always need needs needed want wants wanted prefer
  prefers preferred deadline important remember instead`.split(/\s+/),
);
/** A sentence with fewer terms, such as "Thanks a lot!", is small talk. */
const MIN_TERMS = 3;

/** All sentences in order, without duplicates. */
export async function candidatesOf(
  lines: readonly SourceLine[],
  maxLength: number,
  signal: AbortSignal,
): Promise<Candidate[]> {
  const candidates = new Map<string, Candidate>();
  await forEachYielding(sentencesIn(lines), signal, ({ line, sentence }) => {
    const limit = Math.min(maxLength, DATA.test(sentence) ? MAX_DATA_LENGTH : MAX_SENTENCE_LENGTH);
    const text = cappedText(sentence, limit);
    if (text === '' || candidates.has(text)) return;
    const { isEarlier } = line;
    const terms = text.toLowerCase().match(TERM) ?? [];
    candidates.set(text, { author: cleanAuthorName(line), text, isUser: isByUser(line), isEarlier, terms });
  });
  return [...candidates.values()];
}

/** Candidates with a positive score, best first. The sort is stable: of two equal ones, the earlier one comes first. */
export async function rankByScore(candidates: readonly Candidate[], signal: AbortSignal): Promise<Candidate[]> {
  const counts = new Map<string, number>();
  await forEachYielding(candidates, signal, ({ terms }) => {
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  });
  const scored: { candidate: Candidate; score: number }[] = [];
  await forEachYielding(candidates, signal, (candidate) => {
    const score = scoreCandidate(candidate) + topicScoreOf(candidate, counts, candidates.length);
    if (score > 0) scored.push({ candidate, score });
  });
  return scored.sort((one, other) => other.score - one.score).map(({ candidate }) => candidate);
}

export function isQuestion({ text }: Candidate): boolean {
  return QUESTION.test(text);
}

export function isSmallTalk({ text, terms }: Candidate): boolean {
  return terms.length < MIN_TERMS && !NUMBER.test(text);
}

function scoreCandidate(candidate: Candidate): number {
  const { text, terms, isUser } = candidate;
  const points: readonly (readonly [boolean, number])[] = [
    [terms.some((term) => DECISION.has(term)), 1.2],
    [NUMBER.test(text), 1],
    [NAME.test(text), 0.5],
    [isUser, 0.5],
    [isQuestion(candidate), 0.3],
    [isSmallTalk(candidate), -1],
    [DATA.test(text), -1.5],
  ];
  return points.reduce((sum, [applies, score]) => sum + (applies ? score : 0), 0);
}

/** Frequent terms score higher, except those in every fourth sentence. The length of a sentence gives no advantage. */
function topicScoreOf({ terms }: Candidate, counts: ReadonlyMap<string, number>, sentences: number): number {
  const tooCommon = Math.max(4, sentences / 4);
  const scores = terms.map((term) => counts.get(term) ?? 0).filter((count) => count <= tooCommon);
  return scores.reduce((sum, count) => sum + Math.log2(1 + count), 0) / (terms.length + 4);
}

/** Removes the characters that end an author in an extract, so that no text can claim another author. */
function cleanAuthorName({ author }: SourceLine): string {
  return cappedText(author.replace(/[\s\p{Cc}:]+/gu, ' ').trim(), MAX_AUTHOR_LENGTH) || '?';
}

const LINE_BREAKS = /[\n\r\v\f\u0085\u2028\u2029]+/;
/** Segmenting costs length times sentences, so a long line is read in pieces. */
const PIECE_LENGTH = 1_000;
/** Text with a sentence end in the middle. Other text needs no segmenter. */
const INNER_END = /\p{Sentence_Terminal}.*\S/u;

function* sentencesIn(lines: readonly SourceLine[]): Generator<{ line: SourceLine; sentence: string }> {
  for (const line of lines) {
    for (const part of line.text.split(LINE_BREAKS)) {
      for (const piece of splitLongLine(part)) {
        for (const segment of INNER_END.test(piece) ? segmentSentences(piece) : [piece]) {
          const sentence = segment.trim();
          if (sentence !== '') yield { line, sentence };
        }
      }
    }
  }
}

function* splitLongLine(line: string): Generator<string> {
  let rest = line;
  while (rest.length > PIECE_LENGTH) {
    const end = bestCut(rest, PIECE_LENGTH).at;
    // One grapheme is longer than a piece: the rest of the line is skipped.
    if (end === 0) return;
    yield rest.slice(0, end);
    rest = rest.slice(end);
  }
  yield rest;
}

/** Visits all items and yields to the event loop regularly, so that the app stays responsive. */
async function forEachYielding<T>(items: Iterable<T>, signal: AbortSignal, visit: (item: T) => void): Promise<void> {
  let visited = 0;
  for (const item of items) {
    if (visited % ITEMS_PER_YIELD === 0) {
      await setImmediate();
      signal.throwIfAborted();
    }
    visited += 1;
    visit(item);
  }
}
