import { contentParts } from '../../adapters/langgraph/content-parts.js';
import { recordFields } from '../../adapters/langgraph/thread-records.js';
import type { Part } from '../../sessions/domain/event.js';
import { recordOf, textOf } from './foreign-database.js';
import type { ForeignEvent } from './foreign-log.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * A message of LangChain, as its serializers write it: a constructor with arguments, or its fields. The adapter reads the first
 * as it was.
 */
export function eventOfMessage(message: Fields): ForeignEvent {
  const fields = message.kwargs === undefined ? message : recordOf(message.kwargs);
  const kind = kindOf(message, fields);
  const id = typeof fields.id === 'string' && fields.id !== '' ? fields.id : undefined;
  const said = contentParts(fields.content);
  const whole = wholeOf(message, fields);
  if (kind === 'tool') {
    const texts = said.flatMap(({ text }) => text ?? []);
    const response = { output: texts.length === 1 ? texts[0] : (fields.content ?? null) };
    const part = {
      functionResponse: { id: textOf(fields.tool_call_id), name: textOf(fields.name, 'tool'), response },
    };
    return { id, author: 'agent', content: { role: 'user', parts: [part] }, ...whole };
  }
  const calls = Array.isArray(fields.tool_calls) ? (fields.tool_calls as Fields[]) : [];
  const parts: Part[] = [
    ...said,
    ...calls.map((call) => ({
      functionCall: { id: textOf(call.id), name: textOf(call.name), args: recordOf(call.args) },
    })),
  ];
  const usage = recordOf(fields.usage_metadata);
  const author = kind === 'human' ? 'user' : kind === 'ai' ? 'agent' : 'system';
  return {
    id,
    author,
    content: { role: kind === 'ai' ? 'model' : 'user', parts },
    ...(typeof usage.total_tokens === 'number' && { usageMetadata: usageOf(usage) }),
    ...whole,
  };
}

const KINDS = { HumanMessage: 'human', AIMessage: 'ai', ToolMessage: 'tool', SystemMessage: 'system' } as const;

function kindOf(message: Fields, fields: Fields): string {
  const path: unknown = message.id;
  const name = Array.isArray(path) ? String(path.at(-1)).replace(/Chunk$/, '') : '';
  if (name in KINDS) return KINDS[name as keyof typeof KINDS];
  return textOf(fields.type, 'system');
}

function wholeOf(message: Fields, { content }: Fields): Pick<ForeignEvent, 'customMetadata'> {
  if (message.lc === 1 && message.type === 'constructor')
    return recordFields({ kind: 'message', item: { type: 'json', text: JSON.stringify(message) } });
  return hasUnknownBlocks(content) ? { customMetadata: { langgraph: content } } : {};
}

/** Whether blocks are left that are no parts, and no calls, which a message has beside its content. */
function hasUnknownBlocks(content: unknown): boolean {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  return blocks.some((block) => contentParts([block]).length === 0 && recordOf(block).type !== 'tool_use');
}

function usageOf(usage: Fields): Record<string, number> {
  const names = {
    input_tokens: 'promptTokenCount',
    output_tokens: 'candidatesTokenCount',
    total_tokens: 'totalTokenCount',
  };
  return Object.fromEntries(
    Object.entries(names).flatMap(([from, to]) => (typeof usage[from] === 'number' ? [[to, usage[from]]] : [])),
  );
}
