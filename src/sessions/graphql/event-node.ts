import type { LoggedEvent } from '../domain/event.js';
import type { EventObject } from './types/event.type.js';

/** An event as the schema shows it. */
export type EventNode = EventObject;

/** Field by field: an event may have fields of any name, and `body` is all of them. */
export function eventNode(event: LoggedEvent): EventNode {
  const { id, seq, invocationId, author, branch, timestamp, content, actions } = event;
  return { id, seq, invocationId, author, branch, timestamp, content, actions, body: event };
}
