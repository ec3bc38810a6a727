import type { AppendOutcome } from '../domain/stored/commit.js';
import { InvalidInputError, LimitExceededError } from '../domain/errors/errors.js';
import { isAnySummary, isRewind } from '../domain/event/event-inspection.js';
import type { EventInput, LoggedEvent } from '../domain/event/event.js';
import { optionalCount, optionalFlag } from '../domain/values/input-checks.js';
import type { EndedPartials } from '../domain/stored/partial-event.js';
import { assertUpdatable, incarnationOf } from '../domain/session/session-tracking.js';
import { type SessionReference, referencedKey, Session } from '../domain/session/session.js';
import { reportUnsavedState } from '../domain/session/unsaved-state.js';
import { type SessionEnvironment, storeCommit } from '../session-environment.js';
import type { AppTransaction } from '../storage/session-storage.js';
import { appendControlEvent } from './append-control-event.js';
import { storeWithin } from './append-within.js';
import { acceptAppend, completeAppend, withEventIds } from './complete-append.js';
import { keepTexts, settleTexts } from './keep-texts.js';
import { type GivenEvent, type PreparedEvent, prepareAppend } from './prepared-append.js';
import { quotaRefusal, storedInstead } from './repeated-append.js';
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
   * `dataSource.transaction()` passes. `session` gets the event after the commit.
   */
  transaction?: AppTransaction | undefined;
  /**
   * For summaries: refuse with `StaleSessionError` unless this is still the last summary, rewind or redaction; 0 for none. Keeps
   * what was rewound or redacted in the meantime out of the summary.
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
export async function commitEvent(env: SessionEnvironment, request: AppendEventRequest): Promise<AppendResult> {
  const { events, duplicate } = await commitEvents(env, request, [{ event: request.event, path: '$' }]);
  const [event] = events;
  if (!event) throw new Error('The append of an event returned none');
  return { event, duplicate };
}

/** The session of a commit, and the conditions. */
type CommitRequest = Omit<AppendEventRequest, 'event'> & Pick<AppendEventsRequest, 'endPartials' | 'overQuota'>;

/** The result of an append of several events. */
export interface AppendedEvents {
  readonly events: readonly LoggedEvent[];
  readonly duplicate: boolean;
}

/** Appends events with one commit, and updates the caller's session object. */
export async function commitEvents(
  env: SessionEnvironment,
  request: CommitRequest,
  events: readonly GivenEvent[],
): Promise<AppendedEvents> {
  const { session } = request;
  const key = referencedKey(session);
  const learner = session instanceof Session ? session : undefined;
  const expectedVersion = optionalCount(request.expectedVersion, 'expectedVersion');
  const marksSeq = optionalCount(request.expectedMarksSeq, 'expectedMarksSeq');
  const { turnToken, endsTurn } = turnPart(request);
  const preconditions = { incarnation: incarnationOf(session), expectedVersion, marksSeq, turnToken };
  const prepared = prepareAppend(env, key, events, preconditions);
  const append = prepared instanceof Promise ? await prepared : prepared;

  // A summary is alone in its commit, and a rewind comes first.
  const event = append.events.find(isControl)?.submitted.event;
  if (marksSeq !== undefined && !(event && isAnySummary(event))) {
    throw new InvalidInputError('is only allowed for summaries', 'expectedMarksSeq');
  }
  const { transaction, endPartials: endsPartials } = request;
  if (transaction !== undefined && event) {
    throw new InvalidInputError(
      'is not possible for summaries, rewinds and redactions: append them without it',
      'transaction',
    );
  }
  // A model has been asked for the summary already, and it makes the session shorter.
  const overQuota = request.overQuota ?? (event && isAnySummary(event));
  const refusal = env.quotas && (await quotaRefusal(env.quotas, append, overQuota));
  if (refusal) {
    const repeated = await storedInstead(env, append, refusal, { transaction, session: learner });
    await env.holds.confirm(key, append.commit.metadata ?? []);
    return repeated;
  }
  const texts = append.events.flatMap(({ submitted }) => submitted.texts);
  const fresh = texts.length > 0 ? await keepTexts(env, key, texts) : [];
  const commit = endsTurn || endsPartials ? { ...append.commit, endsTurn, endsPartials } : append.commit;
  let outcome: AppendOutcome;
  try {
    if (transaction !== undefined) {
      const within = { ...append, commit };
      return acceptAppend(env, within, await storeWithin(env, within, transaction, learner));
    }
    outcome = await (event ? appendControlEvent(env, commit, event) : storeCommit(env, commit));
  } catch (error) {
    throw withEventIds(error, commit);
  }
  if (texts.length > 0) await settleTexts(env, key, { texts, fresh }, outcome);
  const completion = completeAppend(env, append, outcome, learner);
  if (completion.updating) await completion.updating;
  if (append.commit.metadata) await env.holds.confirm(key, append.commit.metadata);
  return completion;
}

function isControl({ submitted: { event } }: PreparedEvent): boolean {
  return isAnySummary(event) || isRewind(event) || Boolean(event.actions.redacts);
}

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
  /** Remove the partial events of these messages, or all, because these events replace them. For runs of agents. */
  endPartials?: EndedPartials | undefined;
  /** Count these events, but let no quota refuse them. For runs of agents, which were let in. Default: `false`. */
  overQuota?: boolean | undefined;
  /**
   * Append inside this transaction of the app, over the same TypeORM `DataSource`: the manager that
   * `dataSource.transaction()` passes. `session` gets the events after the commit.
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
  const { session, expectedVersion, turn, endTurn, endPartials, transaction } = request;
  const overQuota = optionalFlag(request.overQuota, 'overQuota');
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
  const result = await commitEvents(
    env,
    { session, expectedVersion, turn, endTurn, endPartials, transaction, overQuota },
    stored,
  );
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
