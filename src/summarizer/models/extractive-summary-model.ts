import { cappedText } from './capped-text.js';
import {
  type Candidate,
  type SourceLine,
  candidatesOf,
  isQuestion,
  isSmallTalk,
  rankByScore,
} from './sentence-candidates.js';
import type { SummaryAnswer, SummaryModel, SummaryRequest } from './summary-model.js';

/** Tells people and models that the text is an extract. */
const HEADER = 'Extract: sentences copied from the conversation, not a summary written by a model.';
const SHORT_HEADER = 'Extract:';
/** The author of a previous summary that is not an extract. */
const OTHER_SUMMARY_AUTHOR = 'summary';

/**
 * Selects sentences of the conversation: no network, no key, no cost, and the same result for the same conversation. It
 * keeps the first request of the user and an open question, then sentences with decisions, numbers, names and the topics
 * of the conversation. Up to half of the length is for the previous summary. It does not understand the text: use a
 * language model if the quality of summaries matters. The first line says that the text is an extract.
 *
 * @example
 * const model = new ExtractiveSummaryModel();
 * const { text } = await model.summarize(request, { signal });
 * // Extract: sentences copied from the conversation, not a summary written by a model.
 * // user: I want to return order 4711.
 * // shop: We agreed on a refund of 180 EUR.
 */
export class ExtractiveSummaryModel implements SummaryModel {
  readonly name = 'extract';

  async summarize(request: SummaryRequest, { signal }: { readonly signal: AbortSignal }): Promise<SummaryAnswer> {
    const { conversation, previousSummary, isSegment, maxSummaryLength } = request;
    signal.throwIfAborted();
    const recent = conversation.map(({ author, text }) => ({ author, text, isEarlier: false }));
    const lines = [...(isSegment ? [] : linesOfSummary(previousSummary)), ...recent];
    const candidates = await candidatesOf(lines, Math.floor(maxSummaryLength / 2), signal);
    const text = await extractFrom(candidates, maxSummaryLength, signal);
    return text === '' ? { text, unfinished: 'there is nothing to extract' } : { text };
  }
}

async function extractFrom(candidates: readonly Candidate[], maxLength: number, signal: AbortSignal): Promise<string> {
  const header = headerFor(maxLength);
  // The last line ends without a line break.
  const room = maxLength + '\n'.length - (header === undefined ? 0 : header.length + '\n'.length);
  const selected = (await selectCandidates(candidates, room, signal)).map(formatCandidateLine);
  if (selected.length > 0) return [...(header === undefined ? [] : [header]), ...selected].join('\n');
  const [first] = candidates;
  return first === undefined ? '' : cappedText(formatCandidateLine(first), maxLength);
}

/** The longest header that leaves three quarters of the length to the sentences. */
function headerFor(maxLength: number): string | undefined {
  return [HEADER, SHORT_HEADER].find((header) => header.length * 4 <= maxLength);
}

function formatCandidateLine({ author, text }: Pick<Candidate, 'author' | 'text'>): string {
  return `${author}: ${text}`;
}

/** Splits a previous extract into its lines. A summary by another model is one line. */
function linesOfSummary(summary: string | undefined): SourceLine[] {
  if (summary === undefined) return [];
  const [first = '', ...rest] = summary.split('\n');
  if (first !== HEADER && first !== SHORT_HEADER) {
    return [{ author: OTHER_SUMMARY_AUTHOR, text: summary, isEarlier: true }];
  }
  return rest.map((line) => {
    const end = line.indexOf(': ');
    const author = end < 0 ? OTHER_SUMMARY_AUTHOR : line.slice(0, end);
    return { author, text: end < 0 ? line : line.slice(end + 2), isEarlier: true };
  });
}

/** The best sentences that fit into `room` together, in their original order. */
async function selectCandidates(
  candidates: readonly Candidate[],
  room: number,
  signal: AbortSignal,
): Promise<Candidate[]> {
  const selected = new Set<Candidate>();
  let left = room;
  const select = (ranked: readonly Candidate[], reserved: number) => {
    for (const candidate of ranked) {
      const length = formatCandidateLine(candidate).length + '\n'.length;
      if (selected.has(candidate) || left - length < reserved) continue;
      selected.add(candidate);
      left -= length;
    }
  };

  const ranked = await rankByScore(candidates, signal);
  select(
    [firstRequest(candidates), openQuestion(candidates)].filter((candidate) => candidate !== undefined),
    0,
  );
  // Sentences of the previous summary stay, but leave half of the room to new ones.
  select(
    ranked.filter(({ isEarlier }) => isEarlier),
    room / 2,
  );
  select(
    ranked.filter(({ isEarlier }) => !isEarlier),
    0,
  );
  select(ranked, 0);
  return candidates.filter((candidate) => selected.has(candidate));
}

function firstRequest(candidates: readonly Candidate[]): Candidate | undefined {
  const byUser = candidates.filter(({ isUser }) => isUser);
  return byUser.find((candidate) => !isSmallTalk(candidate)) ?? byUser[0];
}

/** The last question, if no other author has written since. */
function openQuestion(candidates: readonly Candidate[]): Candidate | undefined {
  const last = candidates.at(-1);
  const lastByOther = candidates.findLastIndex(({ author }) => author !== last?.author);
  return candidates.slice(lastByOther + 1).findLast(isQuestion);
}
