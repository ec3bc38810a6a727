import { AIMessage, type BaseMessage, type ContentBlock, ToolMessage, isBaseMessage } from '@langchain/core/messages';
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';
import {
  defined,
  isByUser,
  pairMessages,
  readMessage,
  type UnpairedMessage,
  type UnpairedPart,
  visibleEvent,
} from '../../adapter.js';
import type { ConversationCall, ConversationPart, ConversationResult } from '../../agents/index.js';
import type { LoggedEvent } from '../../index.js';
import { saidMessage, toLangGraphToolCall, toolMessage } from './event-messages.js';
import { revivedValue } from './serialized-value.js';
import { messageItemOf, ownEventIds } from './thread-records.js';

/** What an event says, and the message that it was made of, if LangChain wrote it. */
interface SaidByEvent extends UnpairedMessage {
  readonly event: LoggedEvent;
  readonly message?: BaseMessage;
}

/**
 * The events of a view as messages that models take: each call is followed by its result, and what agents ask users is left out.
 * Messages of LangChain come back as they were. Clients can write events of users, so of these only those that the adapter itself
 * wrote do; of others, text and files count.
 */
export async function historyMessages(
  events: readonly LoggedEvent[],
  thread: string,
  serde: SerializerProtocol,
): Promise<BaseMessage[]> {
  const own = ownEventIds(events, thread);
  const said = await Promise.all(events.map((event) => saidBy(event, own, serde)));
  const messages = said.flatMap((each) => each ?? []);
  const results = new Map(messages.flatMap(({ event, message }) => pairResponsesWithMessage(event, message)));
  return pairMessages(messages).flatMap(({ message: { role, parts }, of: { event, message } }) => {
    if (role === 'tool')
      return parts.flatMap((part) => (part.type === 'result' ? [toResultMessage(part, results)] : []));
    if (message) return message.getType() === 'remove' ? [] : [withCalls(message, parts)];
    const isSaid = parts.some(({ type }) => type !== 'thought');
    return isSaid ? [saidMessage(event, role, parts)] : [];
  });
}

async function saidBy(
  event: LoggedEvent,
  own: ReadonlySet<string>,
  serde: SerializerProtocol,
): Promise<SaidByEvent | undefined> {
  const visible = visibleEvent(event);
  if (!visible) return undefined;
  const item = isByUser(visible) && !own.has(visible.id) ? undefined : messageItemOf(visible);
  const message = item && (await revivedValue(serde, item));
  const said = readMessage(visible);
  if (!isBaseMessage(message)) return { ...said, event: visible };
  return { ...said, parts: selectMessageParts(message, said.parts), event: visible, message };
}

/** The files of a tool's message are in the message. A message that says nothing is a message. */
function selectMessageParts(message: BaseMessage, parts: readonly UnpairedPart[]): readonly UnpairedPart[] {
  if (ToolMessage.isInstance(message)) return parts.filter(({ type }) => type === 'answered');
  return parts.length > 0 ? parts : [{ type: 'text', text: '' }];
}

/** The response in the log, and the message that it was made of. */
function pairResponsesWithMessage(
  event: LoggedEvent,
  message: BaseMessage | undefined,
): (readonly [unknown, ToolMessage])[] {
  if (!message || !ToolMessage.isInstance(message)) return [];
  return (event.content?.parts ?? []).flatMap(({ functionResponse }) =>
    functionResponse ? [[functionResponse.response, message] as const] : [],
  );
}

function toResultMessage(result: ConversationResult, results: ReadonlyMap<unknown, ToolMessage>): ToolMessage {
  const message = results.get(result.response);
  if (!message) return toolMessage(result);
  if (message.tool_call_id === result.id) return message;
  const { content, name, artifact, status, metadata, id, additional_kwargs, response_metadata } = message;
  const fields = { content, name, artifact, status, metadata, id, additional_kwargs, response_metadata };
  return new ToolMessage({ ...defined(fields), content, tool_call_id: result.id });
}

/** The message as it was. If its calls lack ids of their own or cannot be read, all are calls that models take. */
function withCalls(message: BaseMessage, parts: readonly ConversationPart[]): BaseMessage {
  if (!AIMessage.isInstance(message)) return message;
  const calls = parts.flatMap((part) => (part.type === 'call' ? [part] : []));
  const given = [...(message.tool_calls ?? []), ...(message.invalid_tool_calls ?? [])];
  const isAsGiven = calls.length === given.length && calls.every((call, index) => call.id === given[index]?.id);
  if (isAsGiven && !message.invalid_tool_calls?.length) return message;
  const { content, id, name, usage_metadata, response_metadata } = message;
  const { tool_calls: _calls, ...additional_kwargs } = message.additional_kwargs;
  return new AIMessage({
    ...defined({ id, name, usage_metadata, response_metadata, additional_kwargs }),
    content: Array.isArray(content) ? content.map((block) => blockOfCall(block, given, calls)) : content,
    tool_calls: calls.map(toLangGraphToolCall),
  });
}

/** The block of a call, with what the call has now. */
function blockOfCall(
  block: ContentBlock,
  given: readonly { readonly id?: string | undefined }[],
  calls: readonly ConversationCall[],
): ContentBlock {
  const call = block.id === undefined ? undefined : calls[given.findIndex(({ id }) => id === block.id)];
  if (!call || (block.type !== 'tool_use' && block.type !== 'tool_call')) return block;
  return { ...block, id: call.id, [block.type === 'tool_use' ? 'input' : 'args']: { ...call.args } };
}
