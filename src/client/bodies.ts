import { assertEventShape } from '../sessions/domain/event-shape.js';
import { type EventInput, isTimestampGiven } from '../sessions/domain/event.js';
import { jsonCopyOf } from '../sessions/domain/json-value.js';

/** Beyond all that servers are set up for: they say what is too much, this only keeps the walk from going on for ever. */
const LIMITS = { maxDepth: 1_000, maxBytes: 64 * 1024 * 1024 };

/** Refuses what JSON would change or drop on the way, such as NaN, and says where it is. */
export function checkedBody<Body extends object>(body: Body): Body {
  return jsonCopyOf(body, '$', LIMITS) as Body;
}

/** An event as it is sent, with an id under which it can be sent again. */
export function eventBody(event: EventInput): EventInput {
  assertEventShape(event);
  const { timestamp, actions, ...fields } = event;
  const body = {
    ...fields,
    id: event.id ?? crypto.randomUUID(),
    ...(actions && { actions: { ...actions } }),
    // What a constructor filled in differs from try to try, and is no part of what was said.
    ...(isTimestampGiven(event) && { timestamp }),
  };
  return checkedBody(body);
}
