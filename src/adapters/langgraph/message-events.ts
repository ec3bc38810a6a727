import { AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages';
import type { EventInput, Part, UsageMetadata } from '../../sessions/domain/event.js';
import { contentParts } from './content-parts.js';
import { type SerializedValue, recordFields } from './thread-records.js';

const AGENT = 'agent';

/** A message as an event that every reader of the session understands. It also holds the message itself, word for word. */
export function messageEvent(message: BaseMessage, item: SerializedValue): EventInput {
  const usage = usageOf(message);
  const model: unknown = Reflect.get(message.response_metadata ?? {}, 'model_name');
  return {
    author: authorOf(message),
    content: { role: roleOf(message), parts: partsOf(message) },
    ...(usage && { usageMetadata: usage }),
    ...(typeof model === 'string' && { modelVersion: model }),
    ...recordFields({ kind: 'message', item }),
  };
}

function authorOf(message: BaseMessage): string {
  switch (message.getType()) {
    case 'human':
      return 'user';
    case 'system':
      return 'system';
    // Its name is that of the tool.
    case 'tool':
      return AGENT;
    default:
      return message.name?.trim() || AGENT;
  }
}

function roleOf(message: BaseMessage): string {
  const type = message.getType();
  if (type === 'human' || type === 'tool') return 'user';
  return type === 'system' ? 'system' : 'model';
}

function partsOf(message: BaseMessage): Part[] {
  if (message instanceof ToolMessage) {
    const { name, tool_call_id: id } = message;
    return [{ functionResponse: { id, ...(name !== undefined && { name }), response: responseOf(message) } }];
  }
  const said = contentParts(message.content);
  if (!(message instanceof AIMessage)) return said;
  const calls = message.tool_calls ?? [];
  return [
    ...said,
    ...calls.map(({ id, name, args }) => ({ functionCall: { ...(id && { id }), name, args: plain(args) } })),
  ];
}

/** Models send arguments as objects; anything else is left out. */
function plain(args: unknown): Record<string, unknown> {
  const copy: unknown = JSON.parse(JSON.stringify(args ?? {}));
  return typeof copy === 'object' && copy !== null && !Array.isArray(copy) ? { ...copy } : {};
}

function responseOf(message: BaseMessage): Record<string, unknown> {
  const { text } = message;
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return { ...parsed };
  } catch {
    // Not JSON.
  }
  return { result: text };
}

function usageOf(message: BaseMessage): UsageMetadata | undefined {
  if (!(message instanceof AIMessage) || !message.usage_metadata) return undefined;
  const { input_tokens, output_tokens, total_tokens, input_token_details } = message.usage_metadata;
  const cached = input_token_details?.cache_read;
  return {
    promptTokenCount: input_tokens,
    candidatesTokenCount: output_tokens,
    totalTokenCount: total_tokens,
    ...(cached !== undefined && { cachedContentTokenCount: cached }),
  };
}
