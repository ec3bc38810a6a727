import { InvalidInputError, LimitExceededError } from '../domain/errors.js';
import type { EventInput, LoggedEvent } from '../domain/event.js';
import { optionalCount } from '../domain/optional-count.js';
import { assertUpdatable } from '../domain/session-tracking.js';
import { Session, type SessionReference, referencedKey } from '../domain/session.js';
import { reportUnsavedState } from '../domain/unsaved-state.js';
import type { SessionEnvironment } from '../session-environment.js';
import type { AppTransaction } from '../storage/session-storage.js';
import { commitEvents } from './append-event.js';
import { type TurnReference, turnPart } from './turns.js';

/** The events to append together, and their session. */
export interface AppendEventsRequest {
  /** A loaded session, or `{ id, appName, userId }`. */
  session: SessionReference;
  /** In the order of the log. Set their ids to make retries safe. */
  events: readonly EventInput[];
  /** Refuse with `StaleSessionError` if anything but summaries was appended after this version. */
  expectedVersion?: number | undefined;
  /** Refuse with `TurnLostError` if this turn is over. */
  turn?: TurnReference | undefined;
  /** End the turn with these events, which saves a call of `endTurn`. */
  endTurn?: boolean | undefined;
  /**
   * Append inside this transaction of the app, over the same TypeORM `DataSource`: the manager that
   * `dataSource.transaction()` passes. `session` learns the events after the commit.
   */
  transaction?: AppTransaction | undefined;
}

/** The result of an append of several events. */
export interface AppendEventsResult {
  /** The events as they are stored, in the order of the request. Partial events are in their place, unchanged. */
  readonly events: LoggedEvent[];
  /** Whether all events were stored before, so that this call changed nothing. */
  readonly duplicate: boolean;
}

/** Appends a caller's events, all or none. */
export async function appendEvents(env: SessionEnvironment, request: AppendEventsRequest): Promise<AppendEventsResult> {
  const { session, expectedVersion, turn, endTurn, transaction } = request;
  const given = checkedList(request.events, env.limits.maxBatchEvents);
  referencedKey(session);
  optionalCount(expectedVersion, 'expectedVersion');
  turnPart(request);
  const stored = given
    .map((event, index) => ({ event, path: `$.events[${index}]` }))
    .filter(({ event }) => !isPartial(event));
  if (session instanceof Session) assertUpdatable(session);
  if (stored.length === 0) return { events: given as LoggedEvent[], duplicate: false };
  if (session instanceof Session) {
    reportUnsavedState(
      session,
      stored.map(({ event }) => event),
      env.onUnsavedState,
    );
  }
  const result = await commitEvents(env, { session, events: stored, expectedVersion, turn, endTurn, transaction });
  const left = [...result.events];
  const events = given.map((event) => (isPartial(event) ? event : left.shift()) as LoggedEvent);
  return { events, duplicate: result.duplicate };
}

/** A copy, so that the caller may change the array after the call. */
function checkedList(events: readonly EventInput[], most: number): EventInput[] {
  if (!Array.isArray(events)) throw new InvalidInputError('must be an array of events', '$.events');
  if (events.length > most) {
    throw new LimitExceededError(`has ${events.length} events; at most ${most} are allowed`, '$.events');
  }
  return Array.from(events as readonly EventInput[]);
}

/** The entry may be anything until it is validated. */
function isPartial(event: EventInput | undefined | null): boolean {
  return event?.partial === true;
}
