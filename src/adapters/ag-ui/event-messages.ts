import type { ContentPart, Message, ToolCall, ToolMessage } from '@ag-ui/core';
import { isApprovalEvent, isControlEvent } from '../../agents/index.js';
import { isByUser, isPlainObject, isRewind, readTexts, toolErrorText } from '../../adapter.js';
import {
  allFields,
  type Content,
  type EventLike,
  type FunctionCall,
  type FunctionResponse,
  type Part,
} from '../../index.js';
import { contentPartOf } from './content-parts.js';
import { thoughtId } from './said-messages.js';

/** The field of a content with the ids that its client gave to the messages in it. */
const IDS = 'agUiMessageIds';

/** Whether clients see the event: it says something, and does not only control runs. */
export function isShown(event: EventLike): boolean {
  return !isControlEvent(event) && !isApprovalEvent(event) && !isRewind(event);
}

/** A content that remembers the ids of its messages. */
export function withMessageIds(content: Content, ids: readonly string[]): Content {
  const named: object = { [IDS]: ids };
  return { ...content, ...named };
}

/** The ids by which a client may know what the event says. */
export function messageIdsOf({ id = '', content }: EventLike): readonly string[] {
  const ids = allFields(content ?? {})[IDS];
  const given = Array.isArray(ids) ? ids.filter((each) => typeof each === 'string') : [];
  return given.length > 0 ? given : [id];
}

/** What an event says, as messages of AG-UI. */
export function toAgUiMessages(event: EventLike): Message[] {
  if (!isShown(event)) return [];
  const { id = '', author } = event;
  const parts = event.content?.parts ?? [];
  const results = parts.flatMap(({ functionResponse }) => (functionResponse ? [functionResponse] : []));
  const tools = results.map((result, index) => toolMessageOf(event, result, index));
  if (isByUser(event)) {
    const content = parts.flatMap(contentPartOf);
    const messageId = messageIdsOf(event).at(-1) ?? id;
    return [
      ...tools,
      ...(content.length > 0 ? [{ id: messageId, role: 'user', content: plainest(content) } as const] : []),
    ];
  }
  if (author === 'system' || event.content?.role === 'system') {
    const content = joinPartTexts(parts);
    return content === '' ? [] : [{ id, role: 'system', content }];
  }
  const thoughts = thoughtsOf(event).map(
    (content, index) => ({ id: thoughtId(id, index + 1), role: 'reasoning', content }) as const,
  );
  const [content, toolCalls] = [joinPartTexts(parts), listIdentifiedCalls(event).map(toAgUiToolCall)];
  const said = content !== '' || toolCalls.length > 0;
  const message = {
    id,
    role: 'assistant',
    // As the events of AG-UI say it: calls alone have no name.
    ...(content !== '' && { content, ...(author !== undefined && { name: author }) }),
    ...(toolCalls.length > 0 && { toolCalls }),
  } as const;
  return [...thoughts, ...(said ? [message] : []), ...tools];
}

/** A call with the id by which clients know it: calls without one have their place in the event. */
export function listIdentifiedCalls({ id = '', content }: EventLike): (FunctionCall & { readonly id: string })[] {
  const calls = (content?.parts ?? []).flatMap(({ functionCall }) => (functionCall ? [functionCall] : []));
  return calls.map((call, index) => ({ ...call, id: call.id ?? `${id}:call-${index + 1}` }));
}

export function formatCallArguments({ args }: FunctionCall): string {
  return JSON.stringify(args ?? {});
}

/** The message with the result of a tool. */
export function toolMessage(event: EventLike, { id, response, parts }: FunctionResponse, index: number) {
  const ownId = `${event.id ?? ''}:result-${index + 1}`;
  return {
    id: isByUser(event) ? (messageIdsOf(event)[index] ?? ownId) : ownId,
    role: 'tool' as const,
    toolCallId: id ?? ownId,
    content: resultContent(response, parts),
  };
}

/** The message of a snapshot also says what went wrong; events of the protocol have no place for it. */
function toolMessageOf(event: EventLike, result: FunctionResponse, index: number): ToolMessage {
  const error = toolErrorText(result.response);
  return { ...toolMessage(event, result, index), ...(error !== undefined && { error }) };
}

function resultContent(response: unknown, parts: unknown): string | ContentPart[] {
  const text = resultText(response);
  const files = Array.isArray(parts) ? parts.filter(isPlainObject).flatMap(contentPartOf) : [];
  if (files.length === 0) return text;
  return text === '' ? files : [{ type: 'text', text }, ...files];
}

/** A result that a client sent as text comes back as that text. */
function resultText(response: unknown): string {
  if (typeof response === 'string') return response;
  const { result, ...others } = (response ?? {}) as { readonly result?: unknown };
  return typeof result === 'string' && Object.keys(others).length === 0 ? result : JSON.stringify(response ?? {});
}

function toAgUiToolCall(call: FunctionCall & { readonly id: string }): ToolCall {
  return { id: call.id, type: 'function', function: { name: call.name ?? '', arguments: formatCallArguments(call) } };
}

function joinPartTexts(parts: readonly Part[]): string {
  return parts.map(({ text, thought }) => (typeof text === 'string' && thought !== true ? text : '')).join('');
}

/** Thoughts that follow each other are one; text between them parts them. */
function thoughtsOf(event: EventLike): string[] {
  const thoughts: string[] = [];
  let isOpen = false;
  for (const { text, thought = false } of readTexts(event)) {
    if (thought) thoughts.push(isOpen ? `${thoughts.pop() ?? ''}${text}` : text);
    isOpen = thought;
  }
  return thoughts;
}

function plainest(content: readonly ContentPart[]): string | ContentPart[] {
  const [first, second] = content;
  const isPlainText = first?.type === 'text' && !second && first.id === undefined && first.metadata === undefined;
  return isPlainText ? first.text : [...content];
}
