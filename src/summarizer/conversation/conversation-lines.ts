import type { Part } from '../../sessions/domain/event/content.js';
import type { LoggedEvent } from '../../sessions/domain/event/event.js';
import type { ConversationLine } from '../models/summary-model.js';

/** Arguments and responses of tools matter less than messages. */
const MAX_TOOL_LENGTH = 1_000;

/** Events as a model reads them. Partial and empty events and those with `skipSummarization` are left out. */
export function toConversationLines(events: readonly LoggedEvent[]): ConversationLine[] {
  return events.flatMap((event) => {
    const text = event.partial || event.actions.skipSummarization ? '' : describeEventContent(event);
    return text === '' ? [] : [{ author: event.author ?? event.content?.role ?? 'unknown', text }];
  });
}

/** How many characters a model reads of an event. */
export function measureEventText(event: LoggedEvent): number {
  return toConversationLines([event]).reduce((sum, { text }) => sum + text.length, 0);
}

/** Shortens the longest lines evenly until all lines together have at most `budget` characters. */
export function shortenedLines(lines: readonly ConversationLine[], budget: number): readonly ConversationLine[] {
  const lengths = lines.map(({ text }) => text.length);
  const maxLength = evenShare(lengths, budget);
  return lines.map((line) => ({ ...line, text: shortened(line.text, maxLength) }));
}

/** The maximum length of a line with which all lines fit. */
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

function describeEventContent({ content }: LoggedEvent): string {
  const texts = (content?.parts ?? []).map(textOfPart).filter((text) => text !== '');
  return texts.join('\n');
}

function textOfPart(part: Part): string {
  const { text, thought, functionCall, functionResponse, inlineData, fileData, executableCode, codeExecutionResult } =
    part;
  // Reasoning of the model is not part of the conversation.
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
  return shortened(text, MAX_TOOL_LENGTH);
}

/** Keeps the beginning and the end, with a note of how much is left out if there is room for it. */
function shortened(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const note = ` [… ${text.length - maxLength} characters left out …] `;
  const kept = maxLength - note.length;
  if (kept < note.length) return takeTextStart(text, Math.max(0, maxLength - 1)) + '…';
  const head = Math.ceil(kept / 2);
  return takeTextStart(text, head) + note + keepTextEnd(text, kept - head);
}

/** Never ends inside a surrogate pair. */
function takeTextStart(text: string, length: number): string {
  return text.slice(0, isInsideCharacter(text, length) ? length - 1 : length);
}

function keepTextEnd(text: string, length: number): string {
  const at = text.length - length;
  return text.slice(isInsideCharacter(text, at) ? at + 1 : at);
}

function isInsideCharacter(text: string, at: number): boolean {
  return at > 0 && /^[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(text.slice(at - 1, at + 1));
}
