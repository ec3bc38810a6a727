import {
  AIMessage,
  type BaseMessage,
  type ContentBlock,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { fileIn, isSummary, toolErrorText } from '../../adapter.js';
import type { ConversationCall, ConversationPart, ConversationResult } from '../../agents/index.js';
import type { LoggedEvent } from '../../index.js';
import { saidText } from '../shared/said-text.js';

/** What an event says, as a message of LangChain. Thoughts belong to the model that has them. */
export function saidMessage(
  event: LoggedEvent,
  role: 'user' | 'model',
  parts: readonly ConversationPart[],
): BaseMessage {
  const { id } = event;
  if (role === 'model') {
    const calls = parts.flatMap((part) => (part.type === 'call' ? [toLangGraphToolCall(part)] : []));
    return new AIMessage({ id, content: toTextContent(parts), tool_calls: calls });
  }
  if (!isSummary(event) && (event.author === 'system' || event.content?.role === 'system'))
    return new SystemMessage({ id, content: toTextContent(parts) });
  if (!parts.some(({ type }) => type === 'file')) return new HumanMessage({ id, content: toTextContent(parts) });
  // Models of LangChain read standard blocks of a message that says that it has such.
  return new HumanMessage({ id, contentBlocks: parts.flatMap(toStandardBlocks) });
}

/** A result as the message that answers the call. */
export function toolMessage({ id, name, response }: ConversationResult): ToolMessage {
  const error = toolErrorText(response);
  const isOnlyError = error !== undefined && Object.keys(Object(response)).length === 1;
  return new ToolMessage({
    tool_call_id: id,
    name,
    content: isOnlyError ? error : formatToolResponse(response),
    ...(error !== undefined && { status: 'error' }),
  });
}

export function toLangGraphToolCall({ id, name, args }: ConversationCall) {
  return { type: 'tool_call' as const, id, name, args: { ...args } };
}

function formatToolResponse(response: unknown): string {
  return typeof response === 'string' ? response : JSON.stringify(response ?? {});
}

/** Texts, and words for files: models take these from users only. A single text stays a text. */
function toTextContent(parts: readonly ConversationPart[]): string | { type: 'text'; text: string }[] {
  const texts = parts.flatMap(saidText);
  const [first = ''] = texts;
  return texts.length > 1 ? texts.map((text) => ({ type: 'text', text })) : first;
}

function toStandardBlocks(part: ConversationPart): ContentBlock.Standard[] {
  const file = part.type === 'file' ? fileBlock(part) : undefined;
  return file ? [file] : saidText(part).map((text) => ({ type: 'text', text }));
}

function fileBlock({
  mimeType,
  part,
}: ConversationPart & { type: 'file' }): ContentBlock.Multimodal.Standard | undefined {
  const type = toContentBlockType(mimeType);
  const { keeper, data, uri: url, name: filename, detail } = fileIn(part) ?? {};
  const metadata = { ...(filename !== undefined && { filename }), ...(detail !== undefined && { detail }) };
  const described = Object.keys(metadata).length > 0 && { metadata };
  if (keeper) return { type, fileId: keeper.id, ...described };
  if (data !== undefined) return { type, mimeType, data, ...described };
  const isKnown = mimeType !== 'application/octet-stream';
  return url === undefined ? undefined : { type, url, ...(isKnown && { mimeType }), ...described };
}

function toContentBlockType(mimeType: string): 'image' | 'audio' | 'video' | 'file' {
  const [kind] = mimeType.split('/');
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'file';
}
