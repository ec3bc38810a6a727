import type { AppendOutcome, Commit } from '../domain/commit.js';
import { EventConflictError, SessionNotFoundError, StaleSessionError } from '../domain/errors.js';
import { isRewind, isSummary } from '../domain/event-inspection.js';
import type { EventInput, LoggedEvent } from '../domain/event.js';
import type { SessionKey } from '../domain/ids.js';
import { isNews, learnCommit, learnEvent, learnTemp, showView } from '../domain/session-knowledge.js';
import type { Session } from '../domain/session.js';
import { stateWrites } from '../domain/stored-text.js';
import { type SubmittedEvent, submitEvent } from '../domain/submitted-event.js';
import { viewItemOf } from '../domain/view-item.js';
import { type SessionEnvironment, appendFilter, lifetimes } from '../session-environment.js';
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
  const submitted = submitEvent(await env.hooks.runBeforeAppend({ key, event }), env);
  return { key, submitted, commit: commitOf(env, key, submitted, preconditions) };
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
  if (session) await bringUpToDate(env, session, { key, submitted, stored, event });
  if (stored.kind === 'appended') startWhatFollows(env, { key, event, record: stored.record });
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

function eventOf(stored: Stored, submitted: SubmittedEvent): LoggedEvent {
  if (stored.kind === 'appended') return { ...submitted.event, seq: stored.record.lastSeq };
  return { ...(JSON.parse(payloadOf(stored, submitted)) as LoggedEvent), seq: stored.event.seq };
}

/** The event as stored; where history was trimmed, what was submitted is the same. */
function payloadOf(stored: Stored, { payload }: SubmittedEvent): string {
  return stored.kind === 'seen' ? (stored.event.payload ?? payload) : payload;
}

/** The caller's object learns what was stored through it, and nothing else that was stored meanwhile. */
async function bringUpToDate(
  env: SessionEnvironment,
  session: Session,
  { key, submitted, stored, event }: { key: SessionKey; submitted: SubmittedEvent; stored: Stored; event: LoggedEvent },
): Promise<void> {
  const filter = appendFilter(env);
  const news = isNews(session, event.seq);
  const appended = stored.kind === 'appended' ? stored : undefined;
  learnTemp(session, submitted.temp);
  learnCommit(session, {
    seq: event.seq,
    changes: submitted.changes,
    record: stored.record,
    previousTipSeq: appended?.previousTipSeq,
  });
  if (!news) return;
  if (isSummary(event) || isRewind(event)) {
    const read = await readView(env.storage, key, filter);
    if (read) showView(session, read.view, read.source);
    return;
  }
  const now = stored.kind === 'appended' ? stored.now : stored.event.appendedAt;
  // Each holder of the event gets one of its own.
  const own = { ...(JSON.parse(payloadOf(stored, submitted)) as LoggedEvent), seq: event.seq };
  learnEvent(session, viewItemOf(own, now), filter, now);
}

function startWhatFollows(
  env: SessionEnvironment,
  append: Parameters<SessionEnvironment['hooks']['startAfterAppend']>[0],
): void {
  for (const work of env.hooks.startAfterAppend(append)) env.background.add(work);
  const trimming = trimHistory(env, append.record);
  if (trimming) env.background.add(trimming);
}
