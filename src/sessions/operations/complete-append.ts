import { CHECKPOINT_EVERY } from '../domain/history/checkpoint.js';
import type { AppendOutcome, Commit, StoredEvent } from '../domain/stored/commit.js';
import {
  EventConflictError,
  InvalidInputError,
  LimitExceededError,
  SessionNotFoundError,
  SessionsError,
  StaleSessionError,
  StoreUnavailableError,
  TurnLostError,
  TurnRequiredError,
} from '../domain/errors/errors.js';
import { isSameEvent, timestampOf } from '../domain/write/event-digest.js';
import type { EventInput, LoggedEvent } from '../domain/event/event.js';
import { type SessionKey, sessionNameOf } from '../domain/values/ids.js';
import { metadataLimitText } from '../domain/metadata/metadata-limits.js';
import { lastGiven } from '../domain/event/model-request.js';
import type { SessionRecord } from '../domain/stored/session-record.js';
import type { Session } from '../domain/session/session.js';
import { writeExcessError } from '../domain/stored/state-size.js';
import { loggedEvent } from '../domain/stored/stored-json.js';
import { type SubmittedEvent, submitEvent } from '../domain/write/submitted-event.js';
import { type SessionEnvironment, announce } from '../session-environment.js';
import type { AfterAppend } from '../session-hooks.js';
import { type AppendedEvent, updateSessionObject } from './appended-object.js';
import type { PreparedAppend, PreparedEvent } from './prepared-append.js';
import { LogPoints, TrimmedDuringRead, saveLatestCheckpoint } from './read-log.js';
import { trimHistory } from './trim-history.js';

/** What is left of an append that was accepted. */
export interface CompletedAppend {
  readonly events: readonly LoggedEvent[];
  /** Whether the events had been stored before. */
  readonly duplicate: boolean;
  /** Set if the caller's object needs more than the events, which has to be read first. */
  readonly updating: Promise<void> | undefined;
}

type Appended = Extract<AppendOutcome, { kind: 'appended' }>;
type Seen = Extract<AppendOutcome, { kind: 'seen' }>;

/** Adds the event ids to an error, since callers need them for a retry, even if they were generated. */
export function withEventIds(error: unknown, { events }: Commit): unknown {
  if (error instanceof StoreUnavailableError) error.setEventIds(events.map(({ id }) => id));
  return error;
}

/** Handles the outcome of the write; `session` is the caller's object, if the append was made through one. */
export function completeAppend(
  env: SessionEnvironment,
  append: PreparedAppend,
  outcome: AppendOutcome,
  session?: Session,
): CompletedAppend {
  const { stored, appended, events, duplicate } = acceptAppend(env, append, outcome);
  if (stored.kind === 'appended') startAfterAppend(env, append, stored, appended);
  const updating = session && updateSessionObject(env, session, append.key, appended, stored.record);
  return { events, duplicate, updating };
}

/** Of several events, whichever names the latest one. */
function unknownEventError(events: readonly PreparedEvent[]): InvalidInputError {
  const [last] = events.toSorted((a, b) => lastNamed(b) - lastNamed(a));
  return new InvalidInputError('must name events that come before this one', `${last?.path}.modelRequest.given`);
}

function lastNamed({ submitted: { event } }: PreparedEvent): number {
  return event.modelRequest ? lastGiven(event.modelRequest) : 0;
}

interface AcceptedAppend {
  readonly stored: Appended | Seen;
  readonly appended: readonly AppendedEvent[];
  readonly events: readonly LoggedEvent[];
  readonly duplicate: boolean;
}

/** Throws the error of a refused write. */
export function acceptAppend(env: SessionEnvironment, append: PreparedAppend, outcome: AppendOutcome): AcceptedAppend {
  const stored = acceptedOutcome(outcome, append);
  const duplicate = stored.kind === 'seen';
  const appended = duplicate ? originalsOf(env, append, stored) : newEventsOf(append, stored);
  return { stored, appended, events: appended.map(eventOf), duplicate };
}

function eventOf({ event }: AppendedEvent): LoggedEvent {
  return event;
}

function acceptedOutcome(outcome: AppendOutcome, { key, events, commit }: PreparedAppend): Appended | Seen {
  const { preconditions } = commit;
  switch (outcome.kind) {
    case 'appended':
      return outcome;
    case 'seen':
      return outcome;
    case 'missing':
      throw new SessionNotFoundError(key.sessionId);
    case 'turnLost':
      throw new TurnLostError(key.sessionId);
    case 'turnRequired':
      throw new TurnRequiredError(key.sessionId);
    case 'stale':
      throw new StaleSessionError(preconditions.expectedVersion ?? outcome.lastSeq, outcome.lastSeq);
    case 'unknownEvent':
      throw unknownEventError(events);
    case 'full': {
      const [first] = events;
      const path = first && events.length === 1 ? `${first.path}.actions.metadataDelta` : '$.events';
      throw new LimitExceededError(metadataLimitText(), path);
    }
    case 'stateFull': {
      const [first] = events;
      throw writeExcessError(
        outcome.excess,
        first && events.length === 1 ? `${first.path}.actions.stateDelta` : '$.events',
      );
    }
    case 'overtaken':
      throw new Error('Only summaries and rewinds can be overtaken, and they try again');
  }
}

function newEventsOf({ events }: PreparedAppend, { record, now, previousTipSeq }: Appended): AppendedEvent[] {
  const before = record.lastSeq - events.length;
  return events.map(({ submitted }, index) => {
    const seq = before + 1 + index;
    submitted.event.seq = seq;
    return {
      event: submitted.event as LoggedEvent,
      stored: submitted.kept ?? { seq, payload: submitted.payload, appendedAt: now },
      temp: submitted.temp,
      appendedAt: now,
      previousTipSeq: index === 0 ? previousTipSeq : seq - 1,
    };
  });
}

/** The stored events of a retry. A batch is repeated as a whole, or not at all. */
function originalsOf(env: SessionEnvironment, { events }: PreparedAppend, seen: Seen): AppendedEvent[] {
  const isWhole = !seen.events.includes(undefined);
  return events.flatMap((prepared, index) => {
    const stored = seen.events[index];
    if (!stored) return [];
    const same = sameSubmission(env, prepared, stored);
    if (!same) throw new EventConflictError(stored.id, stored.seq);
    if (!isWhole) throw new EventConflictError(stored.id, stored.seq, 'without other events of this batch');
    const payload = restorePayload(stored, same);
    const event = loggedEvent({ payload, seq: stored.seq });
    const { seq, appendedAt } = stored;
    return [{ event, stored: { seq, payload, appendedAt }, temp: same.temp, appendedAt }];
  });
}

/**
 * Finds out which event a retry sent: the one after the hooks, or the caller's. The stored event is the one after the
 * hooks, and hooks may not be deterministic.
 */
function sameSubmission(
  env: SessionEnvironment,
  { submitted, beforeHooks }: PreparedEvent,
  stored: StoredEvent,
): SubmittedEvent | undefined {
  if (isSameEvent(submitted, stored)) return submitted;
  const asGiven = beforeHooks && submittedIfValid(env, beforeHooks);
  return asGiven && isSameEvent(asGiven, stored) ? asGiven : undefined;
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

/** For a trimmed event, the submitted one is equal except for a generated timestamp. */
function restorePayload(stored: StoredEvent, { event }: SubmittedEvent): string {
  return stored.payload ?? JSON.stringify({ ...event, timestamp: timestampOf(stored.digest) });
}

/** Every hook gets every event. */
function startAfterAppend(
  env: SessionEnvironment,
  { key }: PreparedAppend,
  { record }: Appended,
  events: readonly AppendedEvent[],
): void {
  announce(env, key);
  if (env.hooks.hasAfterAppend) startHooks(env, key, record, events);
  startInBackground(env, trimHistory(env, record, events.length));
  startInBackground(env, saveCheckpoints(env, record, events.length));
}

function startHooks(
  env: SessionEnvironment,
  key: SessionKey,
  record: SessionRecord,
  events: readonly AppendedEvent[],
): void {
  for (const { stored } of events) {
    const append = (): AfterAppend => ({
      key: { ...key },
      event: loggedEvent(stored),
      record: structuredClone(record),
    });
    for (const work of env.hooks.startAfterAppend(append)) {
      env.tasks.trackInBackground(env.tasks.name('hook of onAfterAppend', work));
    }
  }
}

function startInBackground({ tasks }: SessionEnvironment, work: Promise<void> | undefined): void {
  if (work) tasks.trackInBackground(work);
}

/**
 * Saves a checkpoint once every {@link CHECKPOINT_EVERY} events: of the session as it is, or else derived from the events
 * since the last one. After a failure, the next run derives it. One at a time, since each begins where the last one ended.
 *
 * @param appended the number of events that the last commit added
 */
export function saveCheckpoints(
  env: SessionEnvironment,
  record: SessionRecord,
  appended: number,
): Promise<void> | undefined {
  if (record.lastSeq % CHECKPOINT_EVERY >= appended) return undefined;
  const saving = env.checkpoints.run(sessionNameOf(record), record, (latest) => save(env, latest).catch(ignoreGone));
  return env.tasks.name('checkpoints', saving);
}

async function save({ storage, stateLimits }: SessionEnvironment, record: SessionRecord): Promise<void> {
  if (storage.isInProcess && (await saveLatestCheckpoint(storage, record, stateLimits))) return;
  const { log, start } = await LogPoints.readBefore(storage, record, record.lastSeq, stateLimits);
  await log.saveCheckpoints(start, record.lastSeq);
}

/** If the events or the session are gone, there is nothing to save. State that is too large is refused to each reader. */
function ignoreGone(error: unknown): void {
  const isExpected = [TrimmedDuringRead, SessionNotFoundError, LimitExceededError].some(
    (kind) => error instanceof kind,
  );
  if (!isExpected) throw error;
}
