import type { BaseMessage } from '@langchain/core/messages';
import type { EventInput } from '../../sessions/domain/event.js';
import { eventFields } from './message-fields.js';
import { type SerializedValue, recordFields } from './thread-records.js';

/** A message as an event that every reader of the session understands. It also holds the message itself, word for word. */
export function messageEvent(message: BaseMessage, item: SerializedValue): EventInput {
  return { ...eventFields(message.getType(), message), ...recordFields({ kind: 'message', item }) };
}
