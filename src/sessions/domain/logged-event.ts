import type { StoredEvent } from './commit.js';
import type { Event, LoggedEvent } from './event.js';
import { storedJson } from './stored-json.js';

/** An event out of the text that a store keeps of it; each call makes an object of its own. */
export function loggedEvent({ payload, seq }: Pick<StoredEvent, 'payload' | 'seq'>): LoggedEvent {
  if (payload === null) throw new Error(`Event ${seq} was trimmed from the log`);
  return Object.assign(storedJson(payload, `an event (${seq})`) as Event, { seq });
}
