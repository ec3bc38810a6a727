import type { Part } from '../../sessions/domain/event.js';
import { recordOf, textOf } from './foreign-database.js';
import type { ForeignEvent } from './foreign-log.js';

type Fields = Readonly<Record<string, unknown>>;

/** A message of LangChain, as its serializers write it: a constructor with arguments, or its fields. */
export function eventOfMessage(message: Fields): ForeignEvent {
  const fields = message.kwargs === undefined ? message : recordOf(message.kwargs);
  const kind = kindOf(message, fields);
  const id = typeof fields.id === 'string' && fields.id !== '' ? fields.id : undefined;
  const texts = textsOf(fields.content);
  if (kind === 'tool') {
    const response = { output: texts.length === 1 ? texts[0] : (fields.content ?? null) };
    const part = {
      functionResponse: { id: textOf(fields.tool_call_id), name: textOf(fields.name, 'tool'), response },
    };
    return { id, author: 'agent', content: { role: 'user', parts: [part] } };
  }
  const calls = Array.isArray(fields.tool_calls) ? (fields.tool_calls as Fields[]) : [];
  const parts: Part[] = [
    ...texts.map((text) => ({ text })),
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
    ...(hasMoreThanText(fields.content) && { customMetadata: { langgraph: fields.content } }),
  };
}

const KINDS = { HumanMessage: 'human', AIMessage: 'ai', ToolMessage: 'tool', SystemMessage: 'system' } as const;

function kindOf(message: Fields, fields: Fields): string {
  const path: unknown = message.id;
  const name = Array.isArray(path) ? String(path.at(-1)).replace(/Chunk$/, '') : '';
  if (name in KINDS) return KINDS[name as keyof typeof KINDS];
  return textOf(fields.type, 'system');
}

function textsOf(content: unknown): string[] {
  if (typeof content === 'string') return content === '' ? [] : [content];
  return blocksOf(content).flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
}

/** Blocks that are no text, such as images. */
function hasMoreThanText(content: unknown): boolean {
  return blocksOf(content).some(({ text, type }) => typeof text !== 'string' && type !== 'tool_use');
}

function blocksOf(content: unknown): Fields[] {
  return Array.isArray(content)
    ? content.map((block) => (typeof block === 'string' ? { text: block } : recordOf(block)))
    : [];
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
