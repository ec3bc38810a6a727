import type { SessionLimits } from '../../config/limits.js';
import type { StateChanges } from '../../state/state-changes.js';
import { InvalidInputError, SessionNotFoundError, StaleSessionError } from '../domain/errors.js';
import { type SessionKey, checkedSessionKey } from '../domain/ids.js';
import { keptPlaceProblem } from '../domain/kept-place.js';
import { LogReplay } from '../domain/log-replay.js';
import { marksAfterRewind } from '../domain/marks.js';
import { optionalCount } from '../domain/optional-count.js';
import type { Session } from '../domain/session.js';
import { stateDifference } from '../domain/state-difference.js';
import { StateFold } from '../domain/state-fold.js';
import { stateRecord } from '../domain/stored-state.js';
import { loggedEvent } from '../domain/logged-event.js';
import type { SessionEnvironment } from '../session-environment.js';
import type { StoredSession } from '../storage/session-storage.js';
import { completeAppend, prepareAppend } from './appending.js';
import { getSession } from './get-session.js';
import { readLog } from './log-reading.js';

/** Which session to take back, and to which moment: `toSeq` or `invocationId` says it. */
export interface RewindSessionRequest extends SessionKey {
  /** The last event to keep; 0 takes everything back. */
  readonly toSeq?: number | undefined;
  /** Instead of `toSeq`: keep everything before the first event of this invocation. */
  readonly invocationId?: string | undefined;
  /** Refuse with `StaleSessionError` if anything but summaries was appended after this version. */
  readonly expectedVersion?: number | undefined;
}

/** How often a rewind is planned anew because somebody appended meanwhile. */
const MAX_TRIES = 50;

/** What a rewind sets and removes was accepted before, if not all at once. */
const NO_LIMITS: SessionLimits = { maxEventBytes: Infinity, maxDepth: Infinity, maxDeltaKeys: Infinity };

/** Takes the session back to a moment: what is seen of it, and its own state. Shared state stays as it is. */
export async function rewindSession(env: SessionEnvironment, request: RewindSessionRequest): Promise<Session> {
  const key = checkedSessionKey(request);
  const wanted = wantedPlace(request);
  const expectedVersion = optionalCount(request.expectedVersion, 'expectedVersion');
  const id = env.newId();
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const read = await env.storage.read({ key, withState: true, withBase: true });
    if (!read) throw new SessionNotFoundError(key.sessionId);
    const { toSeq, replay, changes } = await wayBack(env, read, wanted);
    const { incarnation, firstSeq, lastSeq } = read.record;
    const actions = { rewind: { toSeq }, ...changes, stateRemovals: [...changes.stateRemovals] };
    const event = { id, author: 'system', actions };
    const preconditions = { incarnation, firstSeq, lastSeq, expectedVersion };
    const append = await prepareAppend({ ...env, limits: NO_LIMITS }, key, event, preconditions);
    if (append.submitted.event.actions.rewind?.toSeq !== toSeq) {
      throw new InvalidInputError('a hook must not change what is rewound', '$.actions.rewind');
    }
    const outcome = await env.storage.append({
      ...append.commit,
      marks: marksAfterRewind(replay.marksAt(toSeq, read.record.counters), toSeq, lastSeq + 1),
      counterIncrements: replay.countsFromNowTo(toSeq),
    });
    if (outcome.kind === 'overtaken') continue;
    await completeAppend(env, append, outcome);
    const session = await getSession(env, key);
    if (!session) throw new SessionNotFoundError(key.sessionId);
    return session;
  }
  const read = await env.storage.read({ key });
  if (!read) throw new SessionNotFoundError(key.sessionId);
  throw new StaleSessionError(read.record.lastSeq - 1, read.record.lastSeq);
}

type WantedPlace = { readonly toSeq: number } | { readonly invocationId: string };

function wantedPlace({ toSeq, ...request }: RewindSessionRequest): WantedPlace {
  const seq = optionalCount(toSeq, 'toSeq');
  const invocationId = request.invocationId ?? undefined;
  if ((seq === undefined) === (invocationId === undefined)) {
    throw new InvalidInputError('give either toSeq or invocationId', 'toSeq');
  }
  if (seq !== undefined) return { toSeq: seq };
  // Events have an empty one unless they were given one, which makes them no invocation.
  if (typeof invocationId !== 'string' || invocationId === '') {
    throw new InvalidInputError('must be the id of an invocation, as text', 'invocationId');
  }
  return { invocationId };
}

interface WayBack {
  readonly toSeq: number;
  readonly replay: LogReplay;
  readonly changes: StateChanges;
}

/** Plays the log once: where to go, how things stood there, and what brings the state back. */
async function wayBack(env: SessionEnvironment, read: StoredSession, wanted: WantedPlace): Promise<WayBack> {
  const { record } = read;
  let toSeq = 'toSeq' in wanted ? wanted.toSeq : undefined;
  const replay = new LogReplay();
  const fold = new StateFold(read.baseState ?? '{}');
  for await (const stored of readLog(env.storage, record, { from: record.firstSeq, to: record.lastSeq })) {
    const event = loggedEvent(stored);
    if ('invocationId' in wanted && toSeq === undefined && event.invocationId === wanted.invocationId) {
      toSeq = event.seq - 1;
    }
    replay.add(event);
    if (toSeq === undefined || event.seq <= toSeq) fold.add(event);
  }
  if (toSeq === undefined) throw new InvalidInputError('no event that is kept belongs to it', 'invocationId');
  const problem = keptPlaceProblem(record, toSeq, 'toSeq');
  if (problem) throw problem;
  const present = stateRecord(read.state?.session ?? [], 'session');
  return { toSeq, replay, changes: stateDifference(present, fold.toRecord()) };
}
