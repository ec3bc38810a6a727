import { isByUser, isSummary, listEventTexts } from '../../sessions/domain/event/event-inspection.js';
import type { FunctionCall, FunctionResponse, Part } from '../../sessions/domain/event/content.js';
import { isPlainObject } from '../../sessions/domain/values/json-value.js';
import type {
  ConversationEvent,
  ConversationMessage,
  ConversationPart,
  ConversationResultPart,
} from './conversation.js';
import { fileType } from './given-files.js';

/** A call or a response whose counterpart is not found yet. */
export type UnpairedPart =
  | Exclude<ConversationPart, { readonly type: 'call' | 'result' }>
  | { readonly type: 'called'; readonly call: FunctionCall; readonly signature?: string }
  | { readonly type: 'answered'; readonly response: FunctionResponse };

/** What an event says, with calls and responses as they are in the log. */
export interface UnpairedMessage extends Omit<ConversationMessage, 'parts'> {
  readonly parts: readonly UnpairedPart[];
}

/**
 * What an event says to an agent that is all agents: its role and its parts, with calls and responses as they are in the log.
 *
 * @example const { role, parts } = readMessage(event);
 */
export function readMessage(event: ConversationEvent): UnpairedMessage {
  return toUnpairedMessage(event, undefined, NO_CALLS);
}

const NO_CALLS: ReadonlySet<string> = new Set();

/** The ids of the calls that the agent made itself. */
export function ownCallIds(events: readonly ConversationEvent[], agent: string | undefined): ReadonlySet<string> {
  const own = events.filter((event) => !isForeign(event, agent));
  return new Set(
    own.flatMap(({ content }) => (content?.parts ?? []).flatMap(({ functionCall }) => functionCall?.id ?? [])),
  );
}

/** What the event says to the agent; without `agent`, to one that is all agents. */
export function toUnpairedMessage(
  event: ConversationEvent,
  agent: string | undefined,
  ownCalls: ReadonlySet<string>,
): UnpairedMessage {
  if (isSummary(event)) return summaryMessage(listEventTexts(event).join('\n'));
  if (event.actions?.branchSummary) return summaryMessage(event.actions.branchSummary.text);
  const parts = event.content?.parts ?? [];
  if (isForeign(event, agent)) return toldMessage(event.author ?? 'unknown', parts, ownCalls);
  const role = chooseMessageRole(event);
  const isOfUser = role === 'user' && (event.author === undefined || isByUser(event));
  // Vendors refuse calls of the user.
  const said = parts.flatMap(partsSaid).filter(({ type }) => !isOfUser || type !== 'called');
  const begins = isOfUser && said.some(({ type }) => type !== 'answered');
  return { role, parts: said, ...(begins && { begins: 'turn' }) };
}

function isForeign(event: ConversationEvent, agent: string | undefined): boolean {
  return agent !== undefined && event.author !== undefined && event.author !== agent && !isByUser(event);
}

/** The role of the content counts, as in ADK. What the system says is for the model. */
function chooseMessageRole(event: ConversationEvent): 'user' | 'model' {
  const role = event.content?.role;
  if (role === 'user' || role === 'model') return role;
  if (role === 'system') return 'user';
  return isByUser(event) ? 'user' : 'model';
}

/** Whether the event is an answer that ended before it was whole. One of which nothing was said needs no note. */
export function isCut({ interrupted, ...event }: ConversationEvent, { parts }: UnpairedMessage): boolean {
  return interrupted === true && !isByUser(event) && parts.length > 0;
}

/** In the words of the user: in its own, the model would learn to write them. */
export function noteMessage(text: string): UnpairedMessage {
  return { role: 'user', parts: [{ type: 'text', text }] };
}

/** The words of ADK. */
function summaryMessage(text: string): UnpairedMessage {
  return { role: 'user', parts: [textPart(`[Previous Context Summary]:\n${text}`)], begins: 'summary' };
}

/** What another agent said and did, as a message of the user, in the words of ADK. Its thoughts stay its own. */
function toldMessage(author: string, parts: readonly Part[], ownCalls: ReadonlySet<string>): UnpairedMessage {
  const told = parts.flatMap((part) => partsTold(author, part, ownCalls));
  const isToldInWords = told.some(({ type }) => type !== 'answered');
  return { role: 'user', parts: isToldInWords ? [textPart('For context:'), ...told] : told };
}

function partsTold(author: string, part: Part, ownCalls: ReadonlySet<string>): UnpairedPart[] {
  const { text, thought, functionCall, functionResponse } = part;
  if (functionResponse && ownCalls.has(functionResponse.id ?? '')) return partsSaid(part);
  if (thought === true) return [];
  if (typeof text === 'string') return text === '' ? [] : [textPart(`[${author}] said: ${text}`)];
  if (functionCall) {
    const { name, args } = functionCall;
    return [textPart(`[${author}] called tool \`${name}\` with parameters: ${jsonText(args)}`)];
  }
  if (functionResponse) {
    const { name, response } = functionResponse;
    const result = textPart(`[${author}] tool \`${name}\` returned result: ${jsonText(response)}`);
    return [result, ...partsOfResponse(functionResponse)];
  }
  return partsSaid(part);
}

function partsSaid(part: Part): UnpairedPart[] {
  const { text, thought, functionCall, functionResponse } = part;
  const signature = typeof part.thoughtSignature === 'string' ? { signature: part.thoughtSignature } : undefined;
  if (functionCall) return [{ type: 'called', call: functionCall, ...signature }];
  if (functionResponse) return [{ type: 'answered', response: functionResponse }];
  // Without the signature of its vendor, a model cannot continue a thought.
  if (thought === true) return signature ? [{ type: 'thought', text: text ?? '', ...signature }] : [];
  if (typeof text === 'string') return text === '' && !signature ? [] : [{ type: 'text', text, ...signature }];
  const mimeType = fileType(part);
  if (mimeType !== undefined) return [{ type: 'file', mimeType, part }];
  return part.executableCode || part.codeExecutionResult ? [{ type: 'code', part }] : [];
}

/** What a response has beside its value, such as images: `functionResponse.parts`, as in Gemini. */
export function partsOfResponse({ parts }: FunctionResponse): ConversationResultPart[] {
  const given: readonly unknown[] = Array.isArray(parts) ? parts : [];
  return given.filter(isPlainObject).flatMap((part) => partsSaid(part).filter(isResultPart));
}

function isResultPart(part: UnpairedPart): part is ConversationResultPart {
  return part.type === 'text' || part.type === 'file' || part.type === 'code';
}

function textPart(text: string): UnpairedPart {
  return { type: 'text', text };
}

/** A string as it is, other values as JSON. */
export function jsonText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? {});
}
