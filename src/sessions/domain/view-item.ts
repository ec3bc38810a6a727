import type { StoredEvent } from './commit.js';
import { isAnchor } from './event-inspection.js';
import type { LoggedEvent } from './event.js';
import { loggedEvent } from './stored-json.js';

/** An event of a view, with the time from which its age is computed. */
export interface ViewItem {
  readonly event: LoggedEvent;
  /** The earlier of the event's timestamp and the time of its append. */
  readonly time: number;
}

export function viewItem(stored: StoredEvent): ViewItem {
  return viewItemOf(loggedEvent(stored), stored.appendedAt);
}

export function viewItemOf(event: LoggedEvent, appendedAt: number): ViewItem {
  return { event, time: Math.min(event.timestamp, appendedAt) };
}

export function isAnchorItem({ event }: ViewItem): boolean {
  return isAnchor(event);
}
