import { itemEvents } from '../../adapters/openai-agents/item-events.js';
import type { Part } from '../../sessions/domain/event.js';
import { jsonOf } from './foreign-database.js';
import type { ForeignEvent } from './foreign-log.js';

type Item = Readonly<Record<string, unknown>>;

/** An item of the OpenAI Agents SDK as events: those that the adapter for its TypeScript version makes, if it is of that. */
export function eventsOfItem(item: Item): ForeignEvent[] {
  if (isOfPython(item)) return [eventOfPythonItem(item)];
  const [first, ...others] = itemEvents(item, { agent: 'agent' });
  return [{ ...first, id: idOf(item) }, ...others];
}

const PYTHON_FIELDS = ['image_url', 'file_id', 'file_data', 'file_url'];

/** Items for Python have the names of OpenAI's Responses API. */
function isOfPython({ type, callId, call_id: pythonCallId, content }: Item): boolean {
  const entries = Array.isArray(content) ? (content as Item[]) : [];
  return (
    (pythonCallId !== undefined && callId === undefined && !textOf(type).startsWith('tool_search')) ||
    (type === 'reasoning' && !Array.isArray(content)) ||
    entries.some((entry) => PYTHON_FIELDS.some((name) => Object.hasOwn(entry, name)))
  );
}

/**
 * An item for Python as an event. Messages, function calls and their results become parts. Other items, such as reasoning, are
 * kept as they are in `customMetadata.openai`.
 */
export function eventOfPythonItem(item: Item): ForeignEvent {
  const id = idOf(item);
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

function idOf({ id }: Item): string | undefined {
  return typeof id === 'string' && id !== '' ? id : undefined;
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
