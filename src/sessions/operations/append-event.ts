import type { StateChanges } from '../../state/state-changes.js';
import type { AppendOutcome, Commit, StoredEvent } from '../domain/commit.js';
import {
  EventConflictError,
  InvalidInputError,
  SessionNotFoundError,
  SessionsError,
  StaleSessionError,
  StoreUnavailableError,
  TurnLostError,
  TurnRequiredError,
} from '../domain/errors.js';
import { isRewind, isSummary } from '../domain/event-inspection.js';
import { assertEventShape } from '../domain/event-shape.js';
import { type EventInput, type LoggedEvent, keepFilledInTimestamp } from '../domain/event.js';
import type { SessionKey } from '../domain/ids.js';
import type { LoadedView } from '../domain/loaded-view.js';
import { optionalCount } from '../domain/optional-count.js';
import { isSameEvent, timestampOf } from '../domain/same-event.js';
import type { SessionRecord } from '../domain/session-record.js';
import {
  applyCommit,
  applyEvent,
  applyTempState,
  assertUpdatable,
  configOf,
  incarnationOf,
  isUnseen,
  refreshEvents,
  replaceView,
} from '../domain/session-tracking.js';
import { Session, type SessionReference, referencedKey } from '../domain/session.js';
import { loggedEvent, stateWrites, storedJson } from '../domain/stored-json.js';
import { type SubmittedEvent, submitEvent } from '../domain/submitted-event.js';
import { reportUnsavedState } from '../domain/unsaved-state.js';
import { viewItemOf } from '../domain/view-item.js';
import { type SessionEnvironment, announce, appendFilter, lifetimes } from '../session-environment.js';
import type { AfterAppend } from '../session-hooks.js';
import { appendControlEvent } from './append-control-event.js';
import { readMissing, readView } from './read-view.js';
import { trimHistory } from './trim-history.js';

/** The event to append, and its session. */
export interface AppendEventRequest {
  /** A loaded session, or `{ id, appName, userId }`. */
  session: SessionReference;
  /** Missing fields get defaults. Set an `id` to make retries safe. */
  event: EventInput;
  /** Refuse with `StaleSessionError` if anything but summaries was appended after this version. */
  expectedVersion?: number | undefined;
  /**
   * For summaries: refuse with `StaleSessionError` unless this is still the last summary or rewind; 0 for none. Keeps
   * events that were rewound meanwhile out of the summary.
   */
  expectedMarksSeq?: number | undefined;
}

/** Appends a caller's event, and reports unsaved changes of the session's state. */
export async function appendEvent(env: SessionEnvironment, request: AppendEventRequest): Promise<AppendResult> {
  const { session } = request;
  if (session instanceof Session) {
    assertUpdatable(session);
    reportUnsavedState(session, request.event, env.onUnsavedState);
  }
  return commitEvent(env, request);
}

/** Appends an event, and updates the caller's session object. */
export async function commitEvent(env: SessionEnvironment, request: AppendEventRequest): Promise<AppendResult> {
  const { session } = request;
  const key = referencedKey(session);
  const learner = session instanceof Session ? session : undefined;
  const expectedVersion = optionalCount(request.expectedVersion, 'expectedVersion');
  const marksSeq = optionalCount(request.expectedMarksSeq, 'expectedMarksSeq');
  const preconditions = { incarnation: incarnationOf(session), expectedVersion, marksSeq };
  const append = await prepareAppend(env, key, request.event, preconditions);

  const { event } = append.submitted;
  if (marksSeq !== undefined && !isSummary(event)) {
    throw new InvalidInputError('is only allowed for summaries', 'expectedMarksSeq');
  }
  const isControl = isSummary(event) || isRewind(event);
  const appending = isControl ? appendControlEvent(env, append.commit, event) : env.storage.append(append.commit);
  const outcome = await withEventId(event.id, appending);
  return completeAppend(env, append, outcome, learner);
}

/** Adds the event id to errors, since callers need it for a retry, even if it was generated. */
async function withEventId(eventId: string, appending: Promise<AppendOutcome>): Promise<AppendOutcome> {
  try {
    return await appending;
  } catch (error) {
    if (error instanceof StoreUnavailableError) error.eventId = eventId;
    throw error;
  }
}

/** The result of an append. */
export interface AppendResult {
  /** The event as it is stored. */
  readonly event: LoggedEvent;
  /** Whether the event was stored before, so that this call changed nothing. */
  readonly duplicate: boolean;
}

/** A validated event, and the commit that stores it. */
export interface PreparedAppend {
  readonly key: SessionKey;
  readonly submitted: SubmittedEvent;
  readonly commit: Commit;
  /** The caller's event, if hooks ran. */
  readonly beforeHooks?: EventInput | undefined;
}

type Stored =
  | Extract<AppendOutcome, { kind: 'appended' }>
  | { readonly kind: 'seen'; readonly event: StoredEvent; readonly record: SessionRecord };

/** Runs hooks and checks, and builds the commit. */
export async function prepareAppend(
  env: SessionEnvironment,
  key: SessionKey,
  event: EventInput,
  preconditions: Commit['preconditions'],
): Promise<PreparedAppend> {
  // Without hooks there is no await, so that the caller may change the event after the call.
  const beforeHooks = env.hooks.hasBeforeAppend ? event : undefined;
  const submitted = submitEvent(beforeHooks ? await passedThroughHooks(env, key, beforeHooks) : event, env);
  return { key, submitted, commit: commitOf(env, key, submitted, preconditions), beforeHooks };
}

async function passedThroughHooks({ hooks }: SessionEnvironment, key: SessionKey, event: EventInput) {
  assertEventShape(event);
  const passed = await hooks.runBeforeAppend({ key, event });
  keepFilledInTimestamp(event, passed);
  return passed;
}

/** Handles the outcome of the write; `session` is the caller's object, if the append was made through one. */
export async function completeAppend(
  env: SessionEnvironment,
  append: PreparedAppend,
  outcome: AppendOutcome,
  session?: Session,
): Promise<AppendResult> {
  const { key, commit } = append;
  const stored = acceptedOutcome(outcome, commit);
  const submitted = stored.kind === 'seen' ? sameSubmission(env, append, stored.event) : append.submitted;
  const event = eventOf(stored, submitted);
  if (stored.kind === 'appended') startAfterAppend(env, { key, submitted, record: stored.record });
  if (session) await updateSessionObject(env, session, { key, submitted, stored, event });
  return { event, duplicate: stored.kind === 'seen' };
}

function commitOf(
  env: SessionEnvironment,
  key: SessionKey,
  { event, payload, digest, anchor, counts, changes }: SubmittedEvent,
  preconditions: Commit['preconditions'],
): Commit {
  return {
    key,
    events: [{ id: event.id, digest, timestamp: event.timestamp, anchor, payload }],
    ...stateWrites(changes),
    counterIncrements: counts,
    // Summaries do not renew a session.
    expiry: isSummary(event) ? undefined : lifetimes(env),
    preconditions,
  };
}

function acceptedOutcome(outcome: AppendOutcome, { key, preconditions }: Commit): Stored {
  switch (outcome.kind) {
    case 'appended':
      return outcome;
    case 'seen': {
      const [event] = outcome.events;
      if (!event) throw new Error('The store reports no event as seen');
      return { ...outcome, event };
    }
    case 'missing':
      throw new SessionNotFoundError(key.sessionId);
    case 'turnLost':
      throw new TurnLostError(key.sessionId);
    case 'turnRequired':
      throw new TurnRequiredError(key.sessionId);
    case 'stale':
      throw new StaleSessionError(preconditions.expectedVersion ?? outcome.lastSeq, outcome.lastSeq);
    case 'overtaken':
      throw new Error('Only summaries and rewinds can be overtaken, and they try again');
  }
}

/**
 * Finds out which event a retry sent: the one after the hooks, or the caller's. The stored event is the one after the
 * hooks, and hooks may not be deterministic.
 */
function sameSubmission(env: SessionEnvironment, append: PreparedAppend, stored: StoredEvent): SubmittedEvent {
  const { submitted, beforeHooks } = append;
  if (isSameEvent(submitted, stored)) return submitted;
  const asGiven = beforeHooks && submittedIfValid(env, beforeHooks);
  if (asGiven && isSameEvent(asGiven, stored)) return asGiven;
  throw new EventConflictError(stored.id, stored.seq);
}

function submittedIfValid(env: SessionEnvironment, event: EventInput): SubmittedEvent | undefined {
  try {
    return submitEvent(event, env);
  } catch (error) {
    // The event may be valid only after the hooks.
    if (error instanceof SessionsError) return undefined;
    throw error;
  }
}

/** The stored event, for the caller. */
function eventOf(stored: Stored, submitted: SubmittedEvent): LoggedEvent {
  if (stored.kind === 'appended') return { ...submitted.event, seq: stored.record.lastSeq };
  return loggedEvent({ payload: payloadOf(stored, submitted), seq: stored.event.seq });
}

/** For a trimmed event, the submitted one is equal except for a generated timestamp. */
function payloadOf(stored: Stored, { payload, event }: SubmittedEvent): string {
  if (stored.kind === 'appended') return payload;
  return stored.event.payload ?? JSON.stringify({ ...event, timestamp: timestampOf(stored.event.digest) });
}

/** A completed append, for the session object through which it was made. */
interface CompletedAppend {
  readonly key: SessionKey;
  readonly submitted: SubmittedEvent;
  readonly stored: Stored;
  readonly event: LoggedEvent;
}

/** Errors here are reported in the background, since the append is already stored. */
async function updateSessionObject(env: SessionEnvironment, session: Session, done: CompletedAppend): Promise<void> {
  try {
    await applyAppend(env, session, done);
  } catch (error) {
    env.tasks.trackInBackground(Promise.reject(error));
  }
}

/** Applies the append to the caller's object, but no other writer's events. */
async function applyAppend(
  env: SessionEnvironment,
  session: Session,
  { key, submitted, stored, event }: CompletedAppend,
): Promise<void> {
  const isNew = isUnseen(session, event.seq);
  applyTempState(session, submitted.temp);
  applyCommit(session, {
    seq: event.seq,
    changes: ownChanges(event),
    record: stored.record,
    previousTipSeq: stored.kind === 'appended' ? stored.previousTipSeq : undefined,
  });
  if (!isNew) return;
  const filter = appendFilter(env);
  // These change the view.
  if (isSummary(event) || isRewind(event) || stored.record.marksSeq > event.seq) {
    const read = await readView(env.storage, key, filter, {
      config: configOf(session),
      maxBytes: env.limits.maxViewBytes,
    });
    if (read) replaceView(session, read.view, read.source, read.stored.record, filter);
    return;
  }
  const now = stored.kind === 'appended' ? stored.now : stored.event.appendedAt;
  const ownEvent = loggedEvent({ payload: payloadOf(stored, submitted), seq: event.seq });
  const lacking = applyEvent(session, viewItemOf(ownEvent, now), filter, now);
  if (lacking) await readMissingFor(env, session, { ...key, incarnation: stored.record.incarnation }, lacking);
}

/** Reads the calls and the anchor that the object's view needs and that were not loaded. */
async function readMissingFor(
  { storage, ...env }: Pick<SessionEnvironment, 'storage' | 'history'>,
  session: Session,
  place: SessionKey & Pick<SessionRecord, 'incarnation'>,
  lacking: LoadedView,
): Promise<void> {
  const filter = appendFilter(env);
  const before = lacking.loaded;
  const { now } = lacking;
  lacking.mergeOlder(before, await readMissing(storage, place, before, { filter: lacking.filterOf(filter), now }));
  refreshEvents(session, lacking, filter);
}

/** A copy, so that the session's state does not share objects with the returned event. */
function ownChanges({ actions: { stateDelta, stateRemovals = [] } }: LoggedEvent): StateChanges {
  return { stateDelta: storedJson(JSON.stringify(stateDelta), 'state') as StateChanges['stateDelta'], stateRemovals };
}

function startAfterAppend(
  env: SessionEnvironment,
  { key, submitted, record }: { key: SessionKey; submitted: SubmittedEvent; record: SessionRecord },
): void {
  announce(env, key);
  const append = (): AfterAppend => ({
    key: { ...key },
    event: loggedEvent({ payload: submitted.payload, seq: record.lastSeq }),
    record: structuredClone(record),
  });
  for (const work of env.hooks.startAfterAppend(append)) env.tasks.trackInBackground(work);
  const trimming = trimHistory(env, record);
  if (trimming) env.tasks.trackInBackground(trimming);
}
