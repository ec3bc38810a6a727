import { itemEvents } from '../../adapters/openai-agents/item-events.js';
import { toContentEntries, toContentEntry } from '../../adapters/openai-agents/said-item.js';
import { isPlainObject } from '../../adapter.js';
import type { Part } from '../../index.js';
import { parseJsonColumn } from './foreign-database.js';
import type { ForeignEvent } from '../foreign-log.js';

type Item = Readonly<Record<string, unknown>>;

/** An item of the OpenAI Agents SDK as events: those that the adapter for its TypeScript version makes, if it is of that. */
export function eventsOfItem(given: object): ForeignEvent[] {
  const item = toContentEntry(given);
  if (isOfPython(item)) return [eventOfPythonItem(item)];
  const [first, ...others] = itemEvents(given, { agent: 'agent' });
  return [{ ...first, id: readItemId(item) }, ...others];
}

const PYTHON_FIELDS = ['image_url', 'file_id', 'file_data', 'file_url'];
/** For TypeScript, other calls of the Responses API are in a `hosted_tool_call`. */
const CALLS_OF_TYPESCRIPT = new Set([
  'function_call',
  'hosted_tool_call',
  'tool_search_call',
  'computer_call',
  'shell_call',
  'apply_patch_call',
]);
/** Types without `call_id` that the SDK for TypeScript does not have. */
const PYTHON_TYPES = new Set([
  'local_shell_call_output',
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
  'item_reference',
  'additional_tools',
  'compaction_trigger',
]);

/** Items for Python have the names of OpenAI's Responses API. */
function isOfPython(item: Item): boolean {
  const type = toTextOrEmpty(item.type);
  if (type === 'reasoning') return item.summary !== undefined || !Array.isArray(item.content);
  if (toContentEntries(item.content).some((entry) => PYTHON_FIELDS.some((name) => Object.hasOwn(entry, name))))
    return true;
  if (item.callId !== undefined) return false;
  if (item.call_id !== undefined) return !type.startsWith('tool_search');
  return PYTHON_TYPES.has(type) || (type.endsWith('_call') && !CALLS_OF_TYPESCRIPT.has(type));
}

/**
 * An item for Python as an event. Messages, function calls and their results become parts. Other items, such as reasoning, are
 * kept as they are in `customMetadata.openai`.
 */
export function eventOfPythonItem(item: Item): ForeignEvent {
  const id = readItemId(item);
  const callId = toTextOrEmpty(item.call_id ?? item.callId);
  switch (item.type ?? 'message') {
    case 'message':
      return { id, ...toMessageEvent(item) };
    case 'function_call':
      return byAgent(id, [
        { functionCall: { id: callId, name: toTextOrEmpty(item.name), args: argsOf(item.arguments) } },
      ]);
    case 'function_call_output':
    case 'function_call_result':
      return byAgent(id, [
        {
          functionResponse: {
            id: callId,
            name: toTextOrEmpty(item.name ?? 'tool'),
            response: { output: parseItemOutput(item.output) },
          },
        },
      ]);
    default:
      return { id, author: 'agent', customMetadata: { openai: item } };
  }
}

function readItemId({ id }: Item): string | undefined {
  return typeof id === 'string' && id !== '' ? id : undefined;
}

function toMessageEvent(item: Item): ForeignEvent {
  const role = toTextOrEmpty(item.role ?? 'user');
  const content: unknown = typeof item.content === 'string' ? [{ type: 'text', text: item.content }] : item.content;
  const parts = toContentEntries(content).flatMap((part): Part[] =>
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
function argsOf(value: unknown): Record<string, unknown> {
  try {
    const parsed = parseJsonColumn(value);
    if (isPlainObject(parsed)) return parsed;
  } catch {
    // A model may write arguments that do not parse.
  }
  return { arguments: value ?? null };
}

function parseItemOutput(value: unknown): unknown {
  const { type, text } = toContentEntry(value);
  return type === 'text' ? text : (value ?? null);
}

function toTextOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
