import { contentParts } from '../../adapters/langgraph/content-parts.js';
import { eventFields } from '../../adapters/langgraph/message-fields.js';
import { linkedItem } from '../../adapters/langgraph/message-item.js';
import { recordFields } from '../../adapters/langgraph/thread-records.js';
import type { Part } from '../../index.js';
import { parseForeignObject, toForeignText } from './foreign-database.js';
import type { ForeignEvent } from '../foreign-log.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * A message of LangChain, as its serializers write it: a constructor with arguments, or its fields. It becomes the event that the
 * adapter makes of it, which reads the first back as it was.
 */
export function eventOfMessage(message: Fields): ForeignEvent {
  const args = message.kwargs === undefined ? message : parseForeignObject(message.kwargs);
  // A message that was made of blocks was given no content.
  const fields = { ...args, content: args.content ?? args.content_blocks };
  const id = typeof args.id === 'string' && args.id !== '' ? args.id : undefined;
  const said = eventFields(findMessageKind(message, args), fields);
  return { id, ...said, ...wholeOf(message, fields, said.content?.parts ?? []) };
}

const KINDS: ReadonlyMap<string, string> = new Map([
  ['HumanMessage', 'human'],
  ['AIMessage', 'ai'],
  ['ToolMessage', 'tool'],
  ['SystemMessage', 'system'],
  ['ChatMessage', 'generic'],
  ['FunctionMessage', 'function'],
  ['RemoveMessage', 'remove'],
]);

/** A constructor has a name, fields have a kind; Python takes the name as the kind of a chunk. */
function findMessageKind(message: Fields, fields: Fields): string {
  const path: unknown = message.id;
  const type = toForeignText(fields.type, 'system');
  const names = [Array.isArray(path) ? toForeignText(path.at(-1)) : '', type];
  return names.map((name) => KINDS.get(name.replace(/Chunk$/, ''))).find((kind) => kind !== undefined) ?? type;
}

function wholeOf(message: Fields, { content }: Fields, parts: readonly Part[]): Pick<ForeignEvent, 'customMetadata'> {
  if (message.lc === 1 && message.type === 'constructor') {
    const item = { type: 'json', text: JSON.stringify(message) };
    return recordFields({ kind: 'message', item: linkedItem(item, parts) });
  }
  return hasUnknownBlocks(content) ? { customMetadata: { langgraph: content } } : {};
}

/** Whether blocks are left that are no parts, and no calls, which a message has beside its content. */
function hasUnknownBlocks(content: unknown): boolean {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  return blocks.some((block) => contentParts([block]).length === 0 && parseForeignObject(block).type !== 'tool_use');
}
