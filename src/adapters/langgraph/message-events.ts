import { randomUUID } from 'node:crypto';
import type { BaseMessage } from '@langchain/core/messages';
import type { EventInput } from '../../index.js';
import { eventFields } from './message-fields.js';
import { linkedItem } from './message-item.js';
import { RECORD_AUTHOR, type SerializedValue, recordFields } from './thread-records.js';

/** A message as an event that every reader of the session understands. It also holds the message itself, word for word. */
export function messageEvent(message: BaseMessage, item: SerializedValue): EventInput {
  const fields = eventFields(message.getType(), message);
  return { ...fields, ...recordFields({ kind: 'message', item: linkedItem(item, fields.content?.parts ?? []) }) };
}

/** The events of messages that no checkpoint will name. The last one says which events of users are the adapter's own. */
export function historyEvents(messages: readonly (readonly [BaseMessage, SerializedValue])[]): EventInput[] {
  const ids: string[] = [];
  const events = messages.map(([message, item]): EventInput => {
    if (message.getType() !== 'human' || isPlain(message)) return messageEvent(message, item);
    const id = randomUUID();
    ids.push(id);
    return { ...messageEvent(message, item), id };
  });
  return ids.length === 0 ? events : [...events, { author: RECORD_AUTHOR, ...recordFields({ kind: 'own', ids }) }];
}

/** Whether the event says all that the message of a user says. */
function isPlain({ content, id, name, additional_kwargs: more, response_metadata: metadata }: BaseMessage): boolean {
  if (typeof content !== 'string' || content === '' || id !== undefined || name !== undefined) return false;
  return Object.keys(more).length === 0 && Object.keys(metadata).length === 0;
}
