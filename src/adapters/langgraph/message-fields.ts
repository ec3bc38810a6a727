import { isPlainObject, toolErrorText } from '../../adapter.js';
import type { EventInput, Part, UsageMetadata } from '../../index.js';
import { contentParts, thoughtPart } from './content-parts.js';

const AGENT = 'agent';

/** The fields of a message of LangChain that readers see: those of the object are the same as those that serializers write. */
export interface MessageFields {
  readonly content?: unknown;
  readonly name?: unknown;
  readonly tool_call_id?: unknown;
  readonly tool_calls?: unknown;
  readonly invalid_tool_calls?: unknown;
  readonly status?: unknown;
  readonly additional_kwargs?: unknown;
  readonly usage_metadata?: unknown;
  readonly response_metadata?: unknown;
}

/**
 * What a message says, as fields of an event. It needs no framework, so imports use it, too.
 *
 * @param kind `human`, `ai`, `tool`, `system`, or another one
 */
export function eventFields(
  kind: string,
  message: MessageFields,
): Pick<EventInput, 'author' | 'content' | 'usageMetadata' | 'modelVersion'> {
  const usage = kind === 'ai' ? readTokenUsage(message) : undefined;
  const model = readPlainField(message.response_metadata, 'model_name');
  return {
    author: chooseMessageAuthor(kind, message),
    content: { role: toContentRole(kind), parts: toMessageParts(kind, message) },
    ...(usage && { usageMetadata: usage }),
    ...(typeof model === 'string' && { modelVersion: model }),
  };
}

function chooseMessageAuthor(kind: string, { name }: MessageFields): string {
  switch (kind) {
    case 'human':
      return 'user';
    case 'system':
      return 'system';
    // Its name is that of the tool.
    case 'tool':
      return AGENT;
    default:
      return (typeof name === 'string' && name.trim()) || AGENT;
  }
}

function toContentRole(kind: string): 'user' | 'model' | 'system' {
  if (kind === 'human' || kind === 'tool') return 'user';
  return kind === 'system' ? 'system' : 'model';
}

function toMessageParts(kind: string, message: MessageFields): Part[] {
  if (kind === 'ai') return [...thoughtBeside(message), ...contentParts(message.content), ...toCallParts(message)];
  const said = allSaid(message.content);
  if (kind !== 'tool') return said;
  const response = parseToolResponse(said, message.status === 'error');
  // Files follow the response, as models get them.
  return [{ functionResponse: { ...answered(message), response } }, ...said.filter(({ text }) => text === undefined)];
}

/** What is said, with words for blocks that no event can say: only agents may leave something unsaid. */
function allSaid(content: unknown): Part[] {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  return blocks.flatMap((block): Part[] => {
    const parts = contentParts(block);
    const type = readPlainField(block, 'type');
    return parts.length > 0 || typeof type !== 'string' ? parts : [{ text: `[a block of type ${type}]` }];
  });
}

/** Where some vendors put a thought: beside the content. */
function thoughtBeside({ additional_kwargs: others }: MessageFields): Part[] {
  const part = thoughtPart(readPlainField(others, 'reasoning_content'));
  return part ? [part] : [];
}

/** Calls, also those whose arguments are no JSON. */
function toCallParts({ tool_calls: calls, invalid_tool_calls: invalid }: MessageFields): Part[] {
  const all: unknown[] = [calls, invalid].flatMap((each): unknown[] => (Array.isArray(each) ? each : []));
  return all.map((call) => ({ functionCall: calledOf(call) }));
}

function answered({ tool_call_id: id, name }: MessageFields): { id?: string; name?: string } {
  return { ...(typeof id === 'string' && { id }), ...(typeof name === 'string' && { name }) };
}

/** Objects stay objects. */
function parseToolResponse(said: readonly Part[], isError: boolean): Record<string, unknown> {
  const text = said.map((part) => part.text ?? '').join('');
  try {
    const parsed: unknown = JSON.parse(text);
    if (isPlainObject(parsed) && (!isError || toolErrorText(parsed) !== undefined)) return { ...parsed };
  } catch {
    // Not JSON.
  }
  return isError ? { error: text } : { result: text };
}

function calledOf(call: unknown): NonNullable<Part['functionCall']> {
  const [id, name] = [readPlainField(call, 'id'), readPlainField(call, 'name')];
  return {
    ...(typeof id === 'string' && id !== '' && { id }),
    ...(typeof name === 'string' && { name }),
    args: plain(readPlainField(call, 'args')),
  };
}

/** Models send arguments as objects; text that is none is kept as text. */
function plain(args: unknown): Record<string, unknown> {
  if (typeof args === 'string') return args === '' ? {} : { arguments: args };
  const copy: unknown = JSON.parse(JSON.stringify(args ?? {}));
  return isPlainObject(copy) ? { ...copy } : {};
}

function readTokenUsage({ usage_metadata: usage }: MessageFields): UsageMetadata | undefined {
  const counts = {
    promptTokenCount: readPlainField(usage, 'input_tokens'),
    candidatesTokenCount: readPlainField(usage, 'output_tokens'),
    totalTokenCount: readPlainField(usage, 'total_tokens'),
    cachedContentTokenCount: readPlainField(readPlainField(usage, 'input_token_details'), 'cache_read'),
  };
  const known = Object.entries(counts).filter(([, count]) => typeof count === 'number');
  return known.length > 0 ? Object.fromEntries(known) : undefined;
}

function readPlainField(value: unknown, name: string): unknown {
  return isPlainObject(value) ? value[name] : undefined;
}
