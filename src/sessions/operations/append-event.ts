import { isRewind, isSummary } from '../domain/event-inspection.js';
import type { AppendOutcome } from '../domain/commit.js';
import { InvalidInputError, StoreUnavailableError } from '../domain/errors.js';
import type { EventInput } from '../domain/event.js';
import { optionalCount } from '../domain/optional-count.js';
import { assertTeachable, incarnationOf } from '../domain/session-knowledge.js';
import { Session, type SessionReference, referencedKey } from '../domain/session.js';
import type { SessionEnvironment } from '../session-environment.js';
import { appendControlEvent } from './append-control-event.js';
import { type AppendResult, completeAppend, prepareAppend } from './appending.js';

/** What to append, and to which session. */
export interface AppendEventRequest {
  /** The session as loaded, or just `{ id, appName, userId }`. */
  session: SessionReference;
  /** What is missing is filled in; give it an id of your own to be able to repeat the call. */
  event: EventInput;
  /** Refuse with `StaleSessionError` if anything but summaries was appended after this version. */
  expectedVersion?: number | undefined;
  /**
   * Of a summary: refuse it with `StaleSessionError` unless this is still the last summary or rewind, 0 for none. So
   * what somebody rewound meanwhile does not come back by a summary of it.
   */
  expectedMarksSeq?: number | undefined;
}

export async function appendEvent(env: SessionEnvironment, request: AppendEventRequest): Promise<AppendResult> {
  const { session } = request;
  const key = referencedKey(session);
  const learner = session instanceof Session ? session : undefined;
  if (learner) assertTeachable(learner);
  const expectedVersion = optionalCount(request.expectedVersion, 'expectedVersion');
  const marksSeq = optionalCount(request.expectedMarksSeq, 'expectedMarksSeq');
  const preconditions = { incarnation: incarnationOf(session), expectedVersion, marksSeq };
  const append = await prepareAppend(env, key, request.event, preconditions);

  const { event } = append.submitted;
  if (marksSeq !== undefined && !isSummary(event)) {
    throw new InvalidInputError('is for summaries', 'expectedMarksSeq');
  }
  const isControl = isSummary(event) || isRewind(event);
  const appending = isControl ? appendControlEvent(env, append.commit, event) : env.storage.append(append.commit);
  const outcome = await withEventId(event.id, appending);
  return completeAppend(env, append, outcome, learner);
}

/** Whoever has to repeat an append must know the id, also where it was generated. */
async function withEventId(eventId: string, appending: Promise<AppendOutcome>): Promise<AppendOutcome> {
  try {
    return await appending;
  } catch (error) {
    if (error instanceof StoreUnavailableError) error.eventId = eventId;
    throw error;
  }
}
