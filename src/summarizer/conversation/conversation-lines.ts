import type { Part } from '../../sessions/domain/content.js';
import type { LoggedEvent } from '../../sessions/domain/event.js';
import type { ConversationLine } from '../models/summary-model.js';

/** What a tool is given and answers matters less than what is said. */
const MOST_OF_A_TOOL = 1_000;

/** Events as a model is to read them, each once; those that nobody is to summarise, and empty ones, are left out. */
export function linesOf(events: readonly LoggedEvent[]): ConversationLine[] {
  return events.flatMap((event) => {
    const text = event.partial || event.actions.skipSummarization ? '' : textOf(event);
    return text === '' ? [] : [{ author: event.author ?? event.content?.role ?? 'unknown', text }];
  });
}

/** Shortens the longest lines, evenly, until all of them together have at most so many characters. */
export function shortenedLines(lines: readonly ConversationLine[], budget: number): readonly ConversationLine[] {
  const lengths = lines.map(({ text }) => text.length);
  const most = evenShare(lengths, budget);
  return lines.map((line) => ({ ...line, text: shortened(line.text, most) }));
}

/** The most that each may have, so that all of them fit. */
function evenShare(lengths: readonly number[], budget: number): number {
  let left = budget;
  const ascending = lengths.toSorted((a, b) => a - b);
  for (const [index, length] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index));
    if (length > share) return share;
    left -= length;
  }
  return budget;
}

function textOf({ content }: LoggedEvent): string {
  const texts = (content?.parts ?? []).map(textOfPart).filter((text) => text !== '');
  return texts.join('\n');
}

function textOfPart(part: Part): string {
  const { text, thought, functionCall, functionResponse, inlineData, fileData, executableCode, codeExecutionResult } =
    part;
  // What a model says to itself was not said to anybody.
  if (thought === true) return '';
  if (typeof text === 'string') return text.trim();
  if (functionCall) return `[calls ${functionCall.name ?? 'a tool'} with ${short(functionCall.args)}]`;
  if (functionResponse) return `[${functionResponse.name ?? 'a tool'} answers ${short(functionResponse.response)}]`;
  const file = inlineData ?? fileData;
  if (file) return `[a file of type ${file.mimeType ?? 'unknown'}]`;
  if (executableCode) return `[runs code: ${short(executableCode.code)}]`;
  if (codeExecutionResult) return `[the code prints: ${short(codeExecutionResult.output)}]`;
  return '';
}

function short(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? {});
  return shortened(text, MOST_OF_A_TOOL);
}

/** Keeps the beginning and the end, and says how much is missing in between, where there is room for that. */
function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const note = ` [… ${text.length - most} characters left out …] `;
  const kept = most - note.length;
  if (kept < note.length) return beginningOf(text, Math.max(0, most - 1)) + '…';
  const head = Math.ceil(kept / 2);
  return beginningOf(text, head) + note + endOf(text, kept - head);
}

/** Without half of a character at its end. */
function beginningOf(text: string, length: number): string {
  return text.slice(0, isInsideCharacter(text, length) ? length - 1 : length);
}

function endOf(text: string, length: number): string {
  const at = text.length - length;
  return text.slice(isInsideCharacter(text, at) ? at + 1 : at);
}

function isInsideCharacter(text: string, at: number): boolean {
  return at > 0 && /^[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(text.slice(at - 1, at + 1));
}
