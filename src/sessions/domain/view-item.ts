import type { StoredEvent } from './commit.js';
import { isAnchor } from './event-inspection.js';
import type { Event, LoggedEvent } from './event.js';
import { storedJson } from './stored-json.js';

/** An event of a view, with the time that counts for its age. */
export interface ViewItem {
  readonly event: LoggedEvent;
  /** The lesser of the event's own timestamp and the time of its append. */
  readonly time: number;
}

export function viewItem(stored: StoredEvent): ViewItem {
  return viewItemOf(loggedEvent(stored), stored.appendedAt);
}

export function viewItemOf(event: LoggedEvent, appendedAt: number): ViewItem {
  return { event, time: Math.min(event.timestamp, appendedAt) };
}

export function loggedEvent({ payload, seq }: Pick<StoredEvent, 'payload' | 'seq'>): LoggedEvent {
  if (payload === null) throw new Error(`Event ${seq} was trimmed from the log`);
  return Object.assign(storedJson(payload, `an event (${seq})`) as Event, { seq });
}

export function isAnchorItem({ event }: ViewItem): boolean {
  return isAnchor(event);
}
