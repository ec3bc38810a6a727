import type { StoredEvent } from './commit.js';
import { Event, type EventInput, type LoggedEvent } from '../event/event.js';
import { DamagedDataError, isTrimmed, loggedEvent } from './stored-json.js';

const DAMAGED = 'EVENT_DAMAGED';

/**
 * Whether the event stands for one whose text is damaged in the store. It has the place of that event in the log, and nothing of
 * what it said.
 *
 * @example const readable = session.events.filter((event) => !isDamagedEvent(event));
 */
export function isDamagedEvent({ errorCode }: Pick<EventInput, 'errorCode'>): boolean {
  return errorCode === DAMAGED;
}

/** Parses a stored event for somebody who reads the log. In place of one that is damaged, it returns one that says so. */
export function readableEvent(stored: StoredEvent): LoggedEvent {
  return eventIn(stored) ?? Object.assign(new Event(insteadOf(stored)), { seq: stored.seq });
}

/** Whether the text of a stored event is that of an event. */
export function isReadable(stored: Pick<StoredEvent, 'payload' | 'seq'>): boolean {
  return eventIn(stored) !== undefined;
}

function eventIn(stored: Pick<StoredEvent, 'payload' | 'seq'>): LoggedEvent | undefined {
  try {
    return isTrimmed(stored) ? undefined : loggedEvent(stored);
  } catch (error) {
    if (!(error instanceof DamagedDataError)) throw error;
    return undefined;
  }
}

/** What stands for a damaged event. */
export function insteadOf({ seq, id, appendedAt }: Pick<StoredEvent, 'seq' | 'id' | 'appendedAt'>): EventInput {
  return {
    id: id || `damaged-${seq}`,
    author: 'system',
    // Damage may have reached what is stored beside the text.
    timestamp: Number.isFinite(appendedAt) ? appendedAt : 0,
    errorCode: DAMAGED,
    errorMessage: 'This event is damaged in the store.',
  };
}
