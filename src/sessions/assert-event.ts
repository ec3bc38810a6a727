import { systemClock } from './domain/process/clock.js';
import { randomId } from './domain/values/ids.js';
import type { EventInput } from './domain/event/event.js';
import { submitEvent } from './domain/write/submitted-event.js';
import { limitsOf } from './limits-of.js';

/**
 * Refuses an event that the service would not append, whatever the session. For a framework that stores what a client said when the
 * agent has worked.
 *
 * @example assertEvent(sessions, { author: 'user', content: { role: 'user', parts: [{ text }] } });
 */
export function assertEvent(sessions: object, event: EventInput): void {
  submitEvent(event, { limits: limitsOf(sessions), clock: systemClock, newId: randomId });
}
