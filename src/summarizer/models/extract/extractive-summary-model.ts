import { cappedText } from '../capped-text.js';
import type { SummaryAnswer, SummaryModel, SummaryRequest } from '../summary-model.js';
import { type Candidate, candidatesOf } from './candidates.js';
import { headerFor, lineOf, linesOfSummary } from './extract-text.js';
import { pick } from './pick.js';

/**
 * Picks sentences instead of writing any: no network, no key, no cost, and the same answer for the same conversation. The
 * first request of the user and a question that is still open are kept, then whatever speaks of decisions, numbers, names
 * and the topics of the conversation; half of the room is for what the summary before had. It understands nothing: use a
 * language model where summaries matter. The answer says that it is an extract.
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
    const { conversation, previousSummary, maxSummaryLength } = request;
    signal.throwIfAborted();
    const recent = conversation.map(({ author, text }) => ({ author, text, isEarlier: false }));
    const lines = [...linesOfSummary(previousSummary), ...recent];
    const candidates = await candidatesOf(lines, Math.floor(maxSummaryLength / 2), signal);
    const text = await extractOf(candidates, maxSummaryLength, signal);
    return text === '' ? { text, unfinished: 'there is nothing to extract' } : { text };
  }
}

async function extractOf(candidates: readonly Candidate[], maxLength: number, signal: AbortSignal): Promise<string> {
  const header = headerFor(maxLength);
  // The last line ends without a line break.
  const room = maxLength + '\n'.length - (header === undefined ? 0 : header.length + '\n'.length);
  const picked = (await pick(candidates, room, lengthOf, signal)).map(lineOf);
  if (picked.length > 0) return [...(header === undefined ? [] : [header]), ...picked].join('\n');
  const [first] = candidates;
  return first === undefined ? '' : cappedText(lineOf(first), maxLength);
}

function lengthOf(candidate: Candidate): number {
  return lineOf(candidate).length + '\n'.length;
}
