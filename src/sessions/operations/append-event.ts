import { InvalidInputError } from '../domain/errors.js';
import { isRewind, isSummary } from '../domain/event-inspection.js';
import type { EventInput, LoggedEvent } from '../domain/event.js';
import { optionalCount } from '../domain/optional-count.js';
import { assertUpdatable, incarnationOf } from '../domain/session-tracking.js';
import { Session, type SessionReference, referencedKey } from '../domain/session.js';
import { reportUnsavedState } from '../domain/unsaved-state.js';
import type { SessionEnvironment } from '../session-environment.js';
import type { AppTransaction } from '../storage/session-storage.js';
import { appendControlEvent } from './append-control-event.js';
import { appendWithin } from './append-within.js';
import { completeAppend, withEventIds } from './complete-append.js';
import { type GivenEvent, prepareAppend } from './prepared-append.js';
import { type TurnReference, turnPart } from './turns.js';

/** The event to append, and its session. */
export interface AppendEventRequest {
  /** A loaded session, or `{ id, appName, userId }`. */
  session: SessionReference;
  /** Missing fields get defaults. Set an `id` to make retries safe. */
  event: EventInput;
  /** Refuse with `StaleSessionError` if anything but summaries was appended after this version. */
  expectedVersion?: number | undefined;
  /** Refuse with `TurnLostError` if this turn is over. */
  turn?: TurnReference | undefined;
  /** End the turn with this event, which saves a call of `endTurn`. */
  endTurn?: boolean | undefined;
  /**
   * Append inside this transaction of the app, over the same TypeORM `DataSource`: the manager that
   * `dataSource.transaction()` passes. `session` learns the event after the commit.
   */
  transaction?: AppTransaction | undefined;
  /**
   * For summaries: refuse with `StaleSessionError` unless this is still the last summary or rewind; 0 for none. Keeps
   * events that were rewound in the meantime out of the summary.
   */
  expectedMarksSeq?: number | undefined;
}

/** The result of an append. */
export interface AppendResult {
  /** The event as it is stored. */
  readonly event: LoggedEvent;
  /** Whether the event was stored before, so that this call changed nothing. */
  readonly duplicate: boolean;
}

/** Appends a caller's event, and reports unsaved changes of the session's state. */
export async function appendEvent(env: SessionEnvironment, request: AppendEventRequest): Promise<AppendResult> {
  const { session, event } = request;
  if (session instanceof Session) {
    assertUpdatable(session);
    reportUnsavedState(session, [event], env.onUnsavedState);
  }
  return commitEvent(env, request);
}

/** Appends an event, and updates the caller's session object. */
export async function commitEvent(
  env: SessionEnvironment,
  { event: input, ...request }: AppendEventRequest,
): Promise<AppendResult> {
  const { events, duplicate } = await commitEvents(env, { ...request, events: [{ event: input, path: '$' }] });
  const [event] = events;
  if (!event) throw new Error('The append of an event returned none');
  return { event, duplicate };
}

/** Events to append together, and the conditions. */
interface CommitRequest extends Omit<AppendEventRequest, 'event'> {
  readonly events: readonly GivenEvent[];
}

/** The result of an append of several events. */
export interface AppendedEvents {
  readonly events: readonly LoggedEvent[];
  readonly duplicate: boolean;
}

/** Appends events with one commit, and updates the caller's session object. */
export async function commitEvents(env: SessionEnvironment, request: CommitRequest): Promise<AppendedEvents> {
  const { session } = request;
  const key = referencedKey(session);
  const learner = session instanceof Session ? session : undefined;
  const expectedVersion = optionalCount(request.expectedVersion, 'expectedVersion');
  const marksSeq = optionalCount(request.expectedMarksSeq, 'expectedMarksSeq');
  const { turnToken, endsTurn } = turnPart(request);
  const preconditions = { incarnation: incarnationOf(session), expectedVersion, marksSeq, turnToken };
  const append = await prepareAppend(env, key, request.events, preconditions);

  // A summary or a rewind is alone in its commit.
  const control = append.events.find(({ submitted: { event } }) => isSummary(event) || isRewind(event));
  const event = control?.submitted.event;
  if (marksSeq !== undefined && !(event && isSummary(event))) {
    throw new InvalidInputError('is only allowed for summaries', 'expectedMarksSeq');
  }
  const commit = endsTurn ? { ...append.commit, endsTurn } : append.commit;
  if (request.transaction !== undefined) {
    if (event)
      throw new InvalidInputError('is not possible for summaries and rewinds: append them alone', 'transaction');
    return appendWithin(env, { ...append, commit }, request.transaction, learner);
  }
  const appending = event ? appendControlEvent(env, commit, event) : env.storage.append(commit);
  return completeAppend(env, append, await withEventIds(append.commit, appending), learner);
}
