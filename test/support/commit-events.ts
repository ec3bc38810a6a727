import { DEFAULT_LIMITS } from '../../src/config/session-settings.js';
import { systemClock } from '../../src/sessions/domain/process/clock.js';
import { randomId } from '../../src/sessions/domain/values/ids.js';
import type { CommitEvent } from '../../src/sessions/domain/stored/session-record.js';
import type { EventInput } from '../../src/sessions/domain/event/event.js';
import { type SubmittedEvent, submitEvent } from '../../src/sessions/domain/write/submitted-event.js';

/** Creates events to insert directly. An input that was used before only gets another id. */
export function eventMaker(): (input: EventInput, id: string) => CommitEvent {
  const surroundings = { limits: DEFAULT_LIMITS, clock: systemClock, newId: randomId };
  const known = new Map<EventInput, SubmittedEvent>();
  return (input, id) => {
    const submitted = known.get(input) ?? submitEvent(input, surroundings);
    known.set(input, submitted);
    const { event, anchor, group } = submitted;
    return { id, anchor, group, timestamp: event.timestamp, payload: JSON.stringify({ ...event, id }) };
  };
}
