import type { ContentPart, Message, ToolCall } from '@ag-ui/core';
import { isApprovalEvent } from '../../agents/approvals.js';
import { isControlEvent } from '../../agents/control-events.js';
import { isByUser, isRewind } from '../../sessions/domain/event-inspection.js';
import type { Content, EventInput, FunctionCall, FunctionResponse, Part } from '../../sessions/domain/event.js';
import { joinedParts, textPartsOf } from '../../sessions/domain/partial-text.js';
import { thoughtId } from './said-messages.js';

/** The field of a content with the ids that its client gave to the messages in it. */
const IDS = 'agUiMessageIds';

/** Whether clients see the event: it says something, and does not only control runs. */
export function isShown(event: EventInput): boolean {
  return !isControlEvent(event) && !isApprovalEvent(event) && !isRewind(event);
}

/** A content that remembers the ids of its messages. */
export function withMessageIds(content: Content, ids: readonly string[]): Content {
  return { ...content, [IDS]: ids };
}

/** The ids by which a client may know what the event says. */
export function messageIdsOf({ id = '', content }: EventInput): readonly string[] {
  const ids: unknown = content?.[IDS];
  const given = Array.isArray(ids) ? ids.filter((each) => typeof each === 'string') : [];
  return given.length > 0 ? given : [id];
}

/** What an event says, as messages of AG-UI. */
export function messagesOf(event: EventInput): Message[] {
  if (!isShown(event)) return [];
  const { id = '', author } = event;
  const parts = event.content?.parts ?? [];
  const results = parts.flatMap(({ functionResponse }) => (functionResponse ? [functionResponse] : []));
  const tools = results.map((result, index) => toolMessage(event, result, index));
  if (isByUser(event)) {
    const content = parts.flatMap(contentPartOf);
    const messageId = messageIdsOf(event).at(-1) ?? id;
    return [
      ...tools,
      ...(content.length > 0 ? [{ id: messageId, role: 'user', content: plainest(content) } as const] : []),
    ];
  }
  if (author === 'system' || event.content?.role === 'system') {
    const content = textOf(parts);
    return content === '' ? [] : [{ id, role: 'system', content }];
  }
  const thoughts = thoughtsOf(event).map(
    (content, index) => ({ id: thoughtId(id, index + 1), role: 'reasoning', content }) as const,
  );
  const [content, toolCalls] = [textOf(parts), callsOf(event).map(toolCallOf)];
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
export function callsOf({ id = '', content }: EventInput): (FunctionCall & { readonly id: string })[] {
  const calls = (content?.parts ?? []).flatMap(({ functionCall }) => (functionCall ? [functionCall] : []));
  return calls.map((call, index) => ({ ...call, id: call.id ?? `${id}:call-${index + 1}` }));
}

export function argumentsOf({ args }: FunctionCall): string {
  return JSON.stringify(args ?? {});
}

/** The message with the result of a tool. */
export function toolMessage(event: EventInput, { id, response }: FunctionResponse, index: number) {
  const ownId = `${event.id ?? ''}:result-${index + 1}`;
  return {
    id: isByUser(event) ? (messageIdsOf(event)[index] ?? ownId) : ownId,
    role: 'tool' as const,
    toolCallId: id ?? ownId,
    content: resultText(response),
  };
}

/** A result that a client sent as text comes back as that text. */
function resultText(response: unknown): string {
  if (typeof response === 'string') return response;
  const { result, ...others } = (response ?? {}) as { readonly result?: unknown };
  return typeof result === 'string' && Object.keys(others).length === 0 ? result : JSON.stringify(response ?? {});
}

function toolCallOf(call: FunctionCall & { readonly id: string }): ToolCall {
  return { id: call.id, type: 'function', function: { name: call.name ?? '', arguments: argumentsOf(call) } };
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ text, thought }) => (typeof text === 'string' && thought !== true ? text : '')).join('');
}

/** Thoughts that follow each other are one; text between them parts them. */
function thoughtsOf(event: EventInput): string[] {
  return joinedParts([], textPartsOf(event)).flatMap(({ text, thought }) => (thought ? [text] : []));
}

function plainest(content: readonly ContentPart[]): string | ContentPart[] {
  const [first, second] = content;
  return first?.type === 'text' && !second ? first.text : [...content];
}

function contentPartOf({ text, thought, inlineData, fileData }: Part): ContentPart[] {
  if (typeof text === 'string') return text === '' || thought === true ? [] : [{ type: 'text', text }];
  if (inlineData) {
    const mimeType = inlineData.mimeType ?? 'application/octet-stream';
    return [{ type: kindOf(mimeType), source: { type: 'data', value: inlineData.data ?? '', mimeType } }];
  }
  if (fileData?.fileUri === undefined) return [];
  const { mimeType, fileUri: value } = fileData;
  return [{ type: kindOf(mimeType ?? ''), source: { type: 'url', value, ...(mimeType && { mimeType }) } }];
}

function kindOf(mimeType: string): 'image' | 'audio' | 'video' | 'document' {
  const kind = mimeType.split('/')[0];
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
}
