import type { Part } from '../../sessions/domain/event.js';
import { jsonOf } from './foreign-database.js';
import type { ForeignEvent } from './foreign-log.js';

type Item = Readonly<Record<string, unknown>>;

/**
 * An item of the OpenAI Agents SDK as an event. Messages, function calls and their results become parts. Other items, such as
 * reasoning, are kept as they are in `customMetadata.openai`.
 */
export function eventOfItem(item: Item): ForeignEvent {
  const id = typeof item.id === 'string' && item.id !== '' ? item.id : undefined;
  const callId = textOf(item.call_id ?? item.callId);
  switch (item.type ?? 'message') {
    case 'message':
      return { id, ...messageOf(item) };
    case 'function_call':
      return byAgent(id, [{ functionCall: { id: callId, name: textOf(item.name), args: argsOf(item.arguments) } }]);
    case 'function_call_output':
    case 'function_call_result':
      return byAgent(id, [
        {
          functionResponse: {
            id: callId,
            name: textOf(item.name ?? 'tool'),
            response: { output: outputOf(item.output) },
          },
        },
      ]);
    default:
      return { id, author: 'agent', customMetadata: { openai: item } };
  }
}

function messageOf(item: Item): ForeignEvent {
  const role = textOf(item.role ?? 'user');
  const content = typeof item.content === 'string' ? [{ type: 'text', text: item.content }] : item.content;
  const parts = (Array.isArray(content) ? (content as Item[]) : []).flatMap((part): Part[] =>
    typeof part.text === 'string'
      ? [{ text: part.text }]
      : typeof part.refusal === 'string'
        ? [{ text: part.refusal }]
        : [],
  );
  const author = role === 'user' ? 'user' : role === 'assistant' ? 'agent' : 'system';
  const isWhole = Array.isArray(content) && parts.length === content.length;
  return {
    author,
    content: { role: role === 'assistant' ? 'model' : 'user', parts },
    ...(!isWhole && { customMetadata: { openai: item } }),
  };
}

function byAgent(id: string | undefined, parts: Part[]): ForeignEvent {
  const isResponse = parts.some((part) => part.functionResponse !== undefined);
  return { id, author: 'agent', content: { role: isResponse ? 'user' : 'model', parts } };
}

/** Arguments that are no JSON object are kept as text. */
export function argsOf(value: unknown): Record<string, unknown> {
  try {
    const parsed = jsonOf(value);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
      return parsed as Record<string, unknown>;
  } catch {
    // A model may write arguments that do not parse.
  }
  return { arguments: value ?? null };
}

function outputOf(value: unknown): unknown {
  const { type, text } = (typeof value === 'object' && value !== null ? value : {}) as Item;
  return type === 'text' ? text : (value ?? null);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
