import { InvalidInputError } from '../sessions/domain/errors.js';
import { assertEventShape } from '../sessions/domain/event-shape.js';
import { type EventInput, isTimestampGiven } from '../sessions/domain/event.js';
import { underPath } from '../sessions/domain/input-checks.js';
import { jsonCopyOf } from '../sessions/domain/json-value.js';

/** Larger than any server limit. They only bound the walk. */
const LIMITS = { maxDepth: 1_000, maxBytes: 64 * 1024 * 1024 };

/** Refuses values that JSON would change or drop, such as NaN. */
export function checkedBody<Body extends object>(body: Body): Body {
  return jsonCopyOf(body, '$', LIMITS) as Body;
}

/** The event to send, with an id for retries. */
export function eventBody(event: EventInput): EventInput {
  assertEventShape(event);
  const { timestamp, actions, ...fields } = event;
  const body = {
    ...fields,
    id: event.id ?? crypto.randomUUID(),
    ...(actions && { actions: { ...actions } }),
    // A timestamp that a constructor filled in differs between retries.
    ...(isTimestampGiven(event) && { timestamp }),
  };
  return checkedBody(body);
}

/** The events to send together, without partial ones. Errors name their place. */
export function eventBodies(events: readonly EventInput[]): EventInput[] {
  if (!Array.isArray(events)) throw new InvalidInputError('must be an array of events', '$.events');
  return (events as readonly EventInput[]).flatMap((event, index) =>
    event?.partial === true ? [] : [underPath(`$.events[${index}]`, () => eventBody(event))],
  );
}
