import type { Part } from '../../sessions/domain/event.js';
import { recordOf, textOf, timeOf } from './foreign-database.js';
import type { ForeignEvent } from './foreign-log.js';
import { argsOf } from './openai-item.js';

type Fields = Readonly<Record<string, unknown>>;

/** What is told otherwise, or means nothing outside of a running model. */
const DROPPED = new Set(['response', 'object', 'created', 'done', 'timing_info']);

/** An event of tRPC-Agent for Go: the response of a model, in the shape of OpenAI, with fields of the event beside it. */
export function eventOfGo(given: Fields): ForeignEvent {
  const { choices, usage, error, stateDelta, actions, longRunningToolIDs, timestamp, is_partial, model, ...others } =
    given;
  const messages = listOf(choices).map((choice) => recordOf(choice.message));
  const parts = messages.flatMap(partsOf);
  const failure = recordOf(error);
  return {
    ...Object.fromEntries(Object.entries(others).filter(([name]) => !DROPPED.has(name))),
    partial: is_partial === true,
    timestamp: timeOf(timestamp),
    ...(parts.length > 0 && { content: { role: messages[0]?.role === 'assistant' ? 'model' : 'user', parts } }),
    actions: { ...recordOf(actions), stateDelta: stateOfGo(stateDelta) },
    ...(longRunningToolIDs !== undefined && { longRunningToolIds: Object.keys(recordOf(longRunningToolIDs)) }),
    ...(usage !== undefined && usage !== null && { usageMetadata: usageOf(recordOf(usage)) }),
    ...(textOf(model) !== '' && { modelVersion: textOf(model) }),
    ...(typeof failure.message === 'string' && {
      errorMessage: failure.message,
      errorCode: textOf(failure.code ?? failure.type, 'unknown'),
    }),
    ...(messages.some(hasMoreThanText) && { customMetadata: { trpcAgent: { choices } } }),
  };
}

/** Values are bytes: JSON, or else text. */
export function stateOfGo(state: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(recordOf(state)).map(([key, value]) => [key, valueOf(bytesText(value))]));
}

/** The value of the text of a column. */
export function valueOf(text: string | undefined): unknown {
  if (text === undefined) return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Go writes bytes as base64. */
function bytesText(value: unknown): string | undefined {
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString() : undefined;
}

function partsOf(message: Fields): Part[] {
  const texts = contentOf(message).flatMap(({ text }) => (typeof text === 'string' && text !== '' ? [text] : []));
  if (textOf(message.tool_id) !== '') {
    const response = { output: texts.join('') };
    return [{ functionResponse: { id: textOf(message.tool_id), name: textOf(message.tool_name, 'tool'), response } }];
  }
  const calls = listOf(message.tool_calls).map((call) => {
    const { name, arguments: args } = recordOf(call.function);
    return { functionCall: { id: textOf(call.id), name: textOf(name), args: argsOf(bytesText(args)) } };
  });
  return [...texts.map((text) => ({ text })), ...calls];
}

function contentOf({ content, content_parts: parts }: Fields): Fields[] {
  return Array.isArray(parts) && parts.length > 0 ? listOf(parts) : [{ text: content }];
}

/** Images, audio and files. */
function hasMoreThanText(message: Fields): boolean {
  return listOf(message.content_parts).some(({ text }) => typeof text !== 'string');
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map((item) => recordOf(item)) : [];
}

function usageOf(usage: Fields): Record<string, number> {
  const counts = {
    promptTokenCount: usage.prompt_tokens,
    candidatesTokenCount: usage.completion_tokens,
    totalTokenCount: usage.total_tokens,
    cachedContentTokenCount: recordOf(usage.prompt_tokens_details).cached_tokens,
  };
  return Object.fromEntries(
    Object.entries(counts).flatMap(([name, count]) => (typeof count === 'number' ? [[name, count]] : [])),
  );
}
