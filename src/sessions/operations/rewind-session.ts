import { type StateChanges, filterChanges } from '../../state/state-changes.js';
import { subtractCounters } from '../domain/stored/counters.js';
import { InvalidInputError, SessionNotFoundError, StaleSessionError } from '../domain/errors/errors.js';
import { type SessionKey, checkedSessionKey } from '../domain/values/ids.js';
import type { Moment } from '../domain/history/moment.js';
import { optionalCount } from '../domain/values/input-checks.js';
import { retryUndefined } from '../domain/process/retry-overtaken.js';
import { retentionProblem } from '../domain/stored/session-record.js';
import type { Session } from '../domain/session/session.js';
import { stateDifference } from '../domain/history/state-history.js';
import { rewindEndsTurn } from '../domain/write/turn-rules.js';
import { marksAfterRewind } from '../domain/stored/view-marks.js';
import { type SessionEnvironment, storeCommit } from '../session-environment.js';
import { ownRecord } from '../storage/state-entries.js';
import type { StoredSession } from '../storage/session-storage.js';
import { completeAppend } from './complete-append.js';
import { placeBefore } from './find-invocation.js';
import { prepareAppend } from './prepared-append.js';
import { takeQuotas } from './repeated-append.js';
import { getSession } from './get-session.js';
import { type ServerStateCheck, restoring, serverKeysIn } from './server-only-changes.js';
import { LogPoints, undefinedIfTrimmed } from './read-log.js';
import { type TurnReference, turnPart } from './turns.js';

/** The session to rewind, and the target: `toSeq` or `invocationId`. */
export interface RewindSessionRequest extends SessionKey {
  /** The last event to keep; 0 rewinds everything. */
  readonly toSeq?: number | undefined;
  /**
   * Instead of `toSeq`: keep the events before the first event of this invocation that is not rewound. Refused if all of
   * its events are rewound, or if its first events were trimmed.
   */
  readonly invocationId?: string | undefined;
  /** Refuse with `StaleSessionError` if anything but summaries was appended after this version. */
  readonly expectedVersion?: number | undefined;
  /** Refuse with `TurnLostError` if this turn is over. Without it, the rewind ends the turn that is held. */
  readonly turn?: TurnReference | undefined;
  /**
   * Asked with the `serverOnly` keys that the rewind would change, and throws to refuse it. Without it, these keys stay as
   * they are.
   */
  readonly onServerState?: ServerStateCheck | undefined;
}

/** Rewinds the session's view and its own state to a moment. Shared state does not change. Planned again after a concurrent append. */
export async function rewindSession(env: SessionEnvironment, request: RewindSessionRequest): Promise<Session> {
  const key = checkedSessionKey(request);
  const wanted = rewindTarget(request);
  const expectedVersion = optionalCount(request.expectedVersion, 'expectedVersion');
  const { turnToken } = turnPart({ turn: request.turn });
  const id = env.newId();
  let isCounted = false;
  const rewound = await retryUndefined(async () => {
    const read = await env.storage.read({ key, withState: true, maxStateBytes: env.stateLimits });
    if (!read) throw new SessionNotFoundError(key.sessionId);
    const plan = await planRewind(env, read, wanted).catch(undefinedIfTrimmed);
    if (!plan) return undefined;
    const { toSeq, moment } = plan;
    const changes = await changesWithin(env, key, plan.changes, request.onServerState);
    const { incarnation, firstSeq, lastSeq } = read.record;
    const actions = { rewind: { toSeq }, ...changes, stateRemovals: [...changes.stateRemovals] };
    const event = { id, author: 'system', actions };
    const preconditions = { incarnation, firstSeq, lastSeq, expectedVersion, turnToken };
    const given = [{ event, path: '$' }];
    const append = await prepareAppend(restoring(env), key, given, preconditions);
    if (append.events[0]?.submitted.event.actions.rewind?.toSeq !== toSeq) {
      throw new InvalidInputError('a hook must not change what is rewound', '$.actions.rewind');
    }
    // A repeated plan is the same rewind.
    if (env.quotas && !isCounted) await takeQuotas(env.quotas, append);
    isCounted = true;
    const outcome = await storeCommit(env, {
      ...append.commit,
      marks: marksAfterRewind(moment.marks, toSeq, lastSeq + 1),
      counterIncrements: subtractCounters(moment.counters, read.record.counters),
      // What was said after that moment is not part of the view.
      endsPartials: 'all',
      endsTurn: rewindEndsTurn(append.commit),
    });
    if (outcome.kind === 'overtaken') return undefined;
    completeAppend(env, append, outcome);
    const session = await getSession(env, key);
    if (!session) throw new SessionNotFoundError(key.sessionId);
    return session;
  });
  if (rewound) return rewound;
  const read = await env.storage.read({ key });
  if (!read) throw new SessionNotFoundError(key.sessionId);
  throw new StaleSessionError(read.record.lastSeq - 1, read.record.lastSeq);
}

async function changesWithin(
  env: SessionEnvironment,
  { appName }: SessionKey,
  changes: StateChanges,
  onServerState: ServerStateCheck | undefined,
): Promise<StateChanges> {
  const keys = serverKeysIn(changes, env, appName);
  if (keys.length === 0) return changes;
  if (!onServerState) return filterChanges(changes, (key) => !keys.includes(key));
  await onServerState(keys);
  return changes;
}

type RewindTarget = { readonly toSeq: number } | { readonly invocationId: string };

function rewindTarget({ toSeq, ...request }: RewindSessionRequest): RewindTarget {
  const seq = optionalCount(toSeq, 'toSeq');
  const invocationId = request.invocationId ?? undefined;
  if ((seq === undefined) === (invocationId === undefined)) {
    throw new InvalidInputError('give either toSeq or invocationId', 'toSeq');
  }
  if (seq !== undefined) return { toSeq: seq };
  // Events without invocation have an empty id, so they form no invocation.
  if (typeof invocationId !== 'string' || invocationId === '') {
    throw new InvalidInputError('must be the id of an invocation, as text', 'invocationId');
  }
  return { invocationId };
}

interface RewindPlan {
  readonly toSeq: number;
  readonly moment: Moment;
  readonly changes: StateChanges;
}

/** Finds the target, its marks and counters, and the state changes. */
async function planRewind(
  { storage, stateLimits }: SessionEnvironment,
  read: StoredSession,
  wanted: RewindTarget,
): Promise<RewindPlan> {
  const { record } = read;
  const log = new LogPoints(storage, record, stateLimits);
  const toSeq = 'toSeq' in wanted ? wanted.toSeq : await placeBefore(wanted.invocationId, storage, log, record);
  const problem = retentionProblem(record, toSeq, 'toSeq');
  if (problem) throw problem;
  const point = await log.pointAt(toSeq);
  const present = ownRecord(read.state?.session);
  return {
    toSeq,
    moment: await log.momentOf(point),
    changes: stateDifference(present, point.fold.toRecord()),
  };
}
