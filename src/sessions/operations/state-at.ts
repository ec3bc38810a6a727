import { InvalidInputError, SessionNotFoundError } from '../domain/errors.js';
import { type SessionKey, checkedSessionKey } from '../domain/ids.js';
import { optionalCount } from '../domain/optional-count.js';
import { retentionProblem } from '../domain/session-record.js';
import type { SessionEnvironment } from '../session-environment.js';
import { LogPoints, fromStableLog } from './log-point.js';

/** The session, and the moment. */
export interface StateAtRequest extends SessionKey {
  /** The last event of that moment; 0 is the initial state. */
  readonly seq: number;
}

/** The state of a session at a moment. */
export interface StateAtMoment {
  readonly seq: number;
  /** The session's own state after the event. */
  readonly state: Record<string, unknown>;
  /**
   * Keys of `user:` and `app:` with the values that events of this session gave them. Writes by others are not in the log of
   * the session, and those of trimmed events may be missing.
   */
  readonly shared: Record<string, unknown>;
}

/** Folds the log from the last checkpoint to the moment. */
export async function stateAt(env: SessionEnvironment, request: StateAtRequest): Promise<StateAtMoment> {
  const key = checkedSessionKey(request);
  const seq = optionalCount(request.seq, 'seq');
  if (seq === undefined) throw new InvalidInputError('must be the number of an event, or 0', 'seq');
  return fromStableLog(async () => {
    const read = await env.storage.read({ key });
    if (!read) throw new SessionNotFoundError(key.sessionId);
    const problem = retentionProblem(read.record, seq, 'seq');
    if (problem) throw problem;
    const { fold } = await new LogPoints(env.storage, read.record).pointAt(seq);
    return { seq, state: fold.toRecord(), shared: fold.toShared() };
  });
}
