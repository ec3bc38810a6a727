import type { SessionLimits } from '../../config/limits.js';
import { isTempKey } from '../../state/scopes.js';
import { type StateChanges, filterChanges, hasChanges } from '../../state/state-changes.js';
import type { Clock, IdGenerator } from './clock.js';
import { type Counters, countsOf } from './counters.js';
import { digestOf } from './digest.js';
import { InvalidInputError, LimitExceededError } from './errors.js';
import { isAnchor } from './event-inspection.js';
import { type Event, type EventInput, isTimestampGiven } from './event.js';
import { assertEventShape } from './event-shape.js';
import { assertId } from './ids.js';
import { jsonCopyOf } from './json-value.js';
import { submittedChanges } from './submitted-changes.js';
import { epochMilliseconds } from './timestamps.js';

/** An event as it will be stored, with everything that is derived from it. */
export interface SubmittedEvent {
  /** Normalised; shares no object with what the caller gave. It has no `seq` yet. */
  readonly event: Event;
  /** The event as JSON text: what a store keeps. */
  readonly payload: string;
  /** The same for the same content, whatever was filled in. */
  readonly digest: string;
  readonly anchor: boolean;
  readonly counts: Counters;
  /** What it changes in the scopes that are stored. */
  readonly changes: StateChanges;
  /** What it changes in the caller's session object only. */
  readonly temp: StateChanges;
}

interface Surroundings {
  readonly limits: SessionLimits;
  readonly clock: Clock;
  readonly newId: IdGenerator;
}

/** Checks an event and makes of it what is stored. All checks of an event are here, before any write. */
export function submitEvent(input: EventInput, { limits, clock, newId }: Surroundings): SubmittedEvent {
  assertEventShape(input);
  if (input.partial) throw new InvalidInputError('a partial event is never stored', '$.partial');
  const { stateDelta, stateRemovals, ...actions } = input.actions ?? {};
  const changes = submittedChanges(stateDelta, stateRemovals, '$.actions', limits);
  const stored = filterChanges(changes, (key) => !isTempKey(key));
  if (actions.compaction && hasChanges(changes)) {
    throw new InvalidInputError('a summary must not change state', '$.actions');
  }

  const { seq: _assignedByTheStore, ...fields } = input;
  const said = normalised({ ...fields, actions: { ...actions } }, limits);
  const id = idOf(input, newId);
  const timestamp = isMissing(input.timestamp) ? undefined : epochMilliseconds(input.timestamp, '$.timestamp');
  const content = {
    ...said,
    id,
    invocationId: said.invocationId ?? '',
    actions: { ...said.actions, ...storedFields(stored) },
  };

  const event = { ...content, timestamp: timestamp ?? clock.now() } as Event;
  const payload = JSON.stringify(event);
  assertSize(payload, limits);
  return {
    event,
    payload,
    digest: digestOf({
      ...content,
      timestamp: isTimestampGiven(input) ? timestamp : null,
      actions: { ...content.actions, stateRemovals: [...stored.stateRemovals].sort() },
    }),
    anchor: isAnchor(event),
    counts: countsOf(event),
    changes: stored,
    temp: filterChanges(changes, isTempKey),
  };
}

function normalised(event: EventInput, limits: SessionLimits): EventInput {
  return jsonCopyOf(event, '$', { maxDepth: limits.maxDepth, maxBytes: limits.maxEventBytes }) as EventInput;
}

function storedFields({ stateDelta, stateRemovals }: StateChanges): Partial<StateChanges> {
  return stateRemovals.length > 0 ? { stateDelta, stateRemovals } : { stateDelta };
}

function idOf({ id }: EventInput, newId: IdGenerator): string {
  if (isMissing(id) || id === '') return newId();
  assertId(id, '$.id');
  return id;
}

function isMissing(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

function assertSize(payload: string, { maxEventBytes }: SessionLimits): void {
  const bytes = Buffer.byteLength(payload);
  if (bytes > maxEventBytes)
    throw new LimitExceededError(`the event has ${bytes} bytes; at most ${maxEventBytes} are allowed`);
}
