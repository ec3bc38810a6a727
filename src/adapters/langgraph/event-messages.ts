import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  isBaseMessage,
} from '@langchain/core/messages';
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';
import { isByUser } from '../../sessions/domain/event-inspection.js';
import type { LoggedEvent, Part } from '../../sessions/domain/event.js';
import { revivedValue } from './serialized-value.js';
import { messageItemOf } from './thread-records.js';

/**
 * What an event says, as messages of LangChain. A message that LangChain wrote comes back as it was, except those of users:
 * clients can write events of users, so these are read as text and files only.
 */
export async function messagesOf(event: LoggedEvent, serde: SerializerProtocol): Promise<BaseMessage[]> {
  const item = isByUser(event) ? undefined : messageItemOf(event);
  const revived = item && (await revivedValue(serde, item));
  if (isBaseMessage(revived)) return [revived];
  const parts = (event.content?.parts ?? []).filter(({ thought }) => thought !== true);
  const said = parts.flatMap(blocksOf);
  const calls = parts.flatMap(({ functionCall }) => (functionCall ? [functionCall] : []));
  const answers = parts.flatMap(({ functionResponse }) => (functionResponse ? [functionResponse] : []));
  return [
    ...(said.length > 0 || calls.length > 0 ? [saidMessage(event, said, calls)] : []),
    ...answers.map(({ id = '', name, response }) => {
      const content = typeof response === 'string' ? response : JSON.stringify(response ?? {});
      return new ToolMessage({ tool_call_id: id, content, ...(name !== undefined && { name }) });
    }),
  ];
}

type Block =
  { readonly type: 'text'; readonly text: string } | { readonly type: string; readonly [field: string]: unknown };

function saidMessage(
  event: LoggedEvent,
  blocks: readonly Block[],
  calls: readonly NonNullable<Part['functionCall']>[],
): BaseMessage {
  const content = contentOf(blocks);
  if (isByUser(event)) return new HumanMessage({ content, id: event.id });
  if (event.content?.role === 'system' || event.author === 'system')
    return new SystemMessage({ content, id: event.id });
  const tool_calls = calls.map(({ id, name = '', args = {} }) => ({ ...(id !== undefined && { id }), name, args }));
  return new AIMessage({ content, id: event.id, tool_calls });
}

/** A single text stays a text. */
function contentOf(blocks: readonly Block[]): string | Block[] {
  const [first, second] = blocks;
  if (!first) return '';
  return !second && typeof first.text === 'string' ? first.text : [...blocks];
}

function blocksOf({ text, inlineData, fileData }: Part): Block[] {
  if (typeof text === 'string') return text === '' ? [] : [{ type: 'text', text }];
  if (inlineData) return [{ type: kindOf(inlineData.mimeType), mimeType: inlineData.mimeType, data: inlineData.data }];
  return fileData?.fileUri === undefined ? [] : [{ type: kindOf(fileData.mimeType), url: fileData.fileUri }];
}

function kindOf(mimeType = ''): string {
  const [kind = ''] = mimeType.split('/');
  return ['image', 'audio', 'video'].includes(kind) ? kind : 'file';
}
