import type { AppendOutcome, Commit } from '../domain/commit.js';
import { EventConflictError, SessionNotFoundError, StaleSessionError } from '../domain/errors.js';
import { assertEventShape } from '../domain/event-shape.js';
import { isRewind, isSummary } from '../domain/event-inspection.js';
import { type EventInput, type LoggedEvent, keepFilledInTimestamp } from '../domain/event.js';
import type { SessionKey } from '../domain/ids.js';
import type { StateChanges } from '../../state/state-changes.js';
import { isNews, learnCommit, learnEvent, learnTemp, showView } from '../domain/session-knowledge.js';
import type { Session } from '../domain/session.js';
import { storedJson } from '../domain/stored-json.js';
import { stateWrites } from '../domain/stored-state.js';
import { type SubmittedEvent, submitEvent } from '../domain/submitted-event.js';
import type { SessionRecord } from '../domain/session-record.js';
import { loggedEvent } from '../domain/logged-event.js';
import { viewItemOf } from '../domain/view-item.js';
import { type SessionEnvironment, announce, appendFilter, lifetimes } from '../session-environment.js';
import type { AfterAppend } from '../session-hooks.js';
import { trimHistory } from './trim-history.js';
import { readView } from './view-reading.js';

/** What became of an append. */
export interface AppendResult {
  /** The event as it is stored. */
  readonly event: LoggedEvent;
  /** Whether it was stored before, and this call changed nothing. */
  readonly duplicate: boolean;
}

/** An event that passed every check, and the commit that stores it. */
export interface PreparedAppend {
  readonly key: SessionKey;
  readonly submitted: SubmittedEvent;
  readonly commit: Commit;
}

type Stored = Extract<AppendOutcome, { kind: 'appended' | 'seen' }>;

/** Everything that comes before the write. */
export async function prepareAppend(
  env: SessionEnvironment,
  key: SessionKey,
  event: EventInput,
  preconditions: Commit['preconditions'],
): Promise<PreparedAppend> {
  // Where nobody has to be waited for, what the caller does with the event next changes nothing.
  const submitted = submitEvent(env.hooks.hasBeforeAppend ? await passedThroughHooks(env, key, event) : event, env);
  return { key, submitted, commit: commitOf(env, key, submitted, preconditions) };
}

async function passedThroughHooks({ hooks }: SessionEnvironment, key: SessionKey, event: EventInput) {
  assertEventShape(event);
  const passed = await hooks.runBeforeAppend({ key, event });
  keepFilledInTimestamp(event, passed);
  return passed;
}

/** Everything that comes after it; `session` is the caller's object, if the append was made through one. */
export async function completeAppend(
  env: SessionEnvironment,
  { key, submitted, commit }: PreparedAppend,
  outcome: AppendOutcome,
  session?: Session,
): Promise<AppendResult> {
  const stored = acceptedOutcome(outcome, commit);
  const event = eventOf(stored, submitted);
  if (stored.kind === 'appended') startWhatFollows(env, { key, submitted, record: stored.record });
  if (session) await bringUpToDate(env, session, { key, submitted, stored, event });
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
    event: { id: event.id, digest, timestamp: event.timestamp, anchor, payload },
    ...stateWrites(changes),
    counterIncrements: counts,
    // A summary is no sign of life.
    expiry: isSummary(event) ? undefined : lifetimes(env),
    preconditions,
  };
}

function acceptedOutcome(outcome: AppendOutcome, { key, event, preconditions }: Commit): Stored {
  switch (outcome.kind) {
    case 'appended':
      return outcome;
    case 'seen':
      if (outcome.event.digest === event.digest) return outcome;
      throw new EventConflictError(event.id, outcome.event.seq);
    case 'missing':
      throw new SessionNotFoundError(key.sessionId);
    case 'stale':
      throw new StaleSessionError(preconditions.expectedVersion ?? outcome.lastSeq, outcome.lastSeq);
    case 'overtaken':
      throw new Error('Only summaries and rewinds can be overtaken, and they try again');
  }
}

/** The event as it is stored, for the caller. */
function eventOf(stored: Stored, submitted: SubmittedEvent): LoggedEvent {
  if (stored.kind === 'appended') return { ...submitted.event, seq: stored.record.lastSeq };
  return loggedEvent({ payload: payloadOf(stored, submitted), seq: stored.event.seq });
}

/** Where history was trimmed, what was submitted is the same. */
function payloadOf(stored: Stored, { payload }: SubmittedEvent): string {
  return stored.kind === 'appended' ? payload : (stored.event.payload ?? payload);
}

/** An append that came through, for the object through which it was made. */
interface DoneAppend {
  readonly key: SessionKey;
  readonly submitted: SubmittedEvent;
  readonly stored: Stored;
  readonly event: LoggedEvent;
}

/** The append is done by now, whatever its caller made of the object. */
async function bringUpToDate(env: SessionEnvironment, session: Session, done: DoneAppend): Promise<void> {
  try {
    await learnAppend(env, session, done);
  } catch (error) {
    env.running.addInBackground(Promise.reject(error));
  }
}

/** The caller's object learns what was stored through it, and nothing else that was stored meanwhile. */
async function learnAppend(
  env: SessionEnvironment,
  session: Session,
  { key, submitted, stored, event }: DoneAppend,
): Promise<void> {
  const isNew = isNews(session, event.seq);
  learnTemp(session, submitted.temp);
  learnCommit(session, {
    seq: event.seq,
    changes: ownChanges(event),
    record: stored.record,
    previousTipSeq: stored.kind === 'appended' ? stored.previousTipSeq : undefined,
  });
  if (!isNew) return;
  const filter = appendFilter(env);
  // These change what there is to see.
  if (isSummary(event) || isRewind(event) || stored.record.marksSeq > event.seq) {
    const read = await readView(env.storage, key, filter);
    if (read) showView(session, read.view, read.source, read.stored.record);
    return;
  }
  const now = stored.kind === 'appended' ? stored.now : stored.event.appendedAt;
  const ownEvent = loggedEvent({ payload: payloadOf(stored, submitted), seq: event.seq });
  learnEvent(session, viewItemOf(ownEvent, now), filter, now);
}

/** For the state of the session alone: what the caller does with the event must not show in it. */
function ownChanges({ actions: { stateDelta, stateRemovals = [] } }: LoggedEvent): StateChanges {
  return { stateDelta: storedJson(JSON.stringify(stateDelta), 'state') as StateChanges['stateDelta'], stateRemovals };
}

function startWhatFollows(
  env: SessionEnvironment,
  { key, submitted, record }: { key: SessionKey; submitted: SubmittedEvent; record: SessionRecord },
): void {
  announce(env, key);
  const append = (): AfterAppend => ({
    key: { ...key },
    event: loggedEvent({ payload: submitted.payload, seq: record.lastSeq }),
    record: structuredClone(record),
  });
  for (const work of env.hooks.startAfterAppend(append)) env.running.addInBackground(work);
  const trimming = trimHistory(env, record);
  if (trimming) env.running.addInBackground(trimming);
}
