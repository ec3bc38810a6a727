import { InvalidInputError, SessionNotFoundError, TurnLostError } from '../domain/errors.js';
import { LeaseRenewal } from '../leases/lease-renewal.js';
import type { SessionEnvironment } from '../session-environment.js';
import { type BeginTurnRequest, type Turn, beginTurn, endTurn, renewTurn } from './turns.js';

/** The turn, as the work sees it. */
export interface HeldTurn extends Turn {
  /** Aborts with a `TurnLostError` when the turn is lost. Then another writer may begin. */
  readonly signal: AbortSignal;
}

/** Runs work in a turn of its own. */
export async function withTurn<Result>(
  env: SessionEnvironment,
  request: BeginTurnRequest,
  work: (turn: HeldTurn) => Result | Promise<Result>,
): Promise<Result> {
  if (typeof work !== 'function') throw new InvalidInputError('must be a function', 'work');
  const askedAt = performance.now();
  const turn = await env.tasks.track(beginTurn(env, request));
  const onError = (error: unknown): void => env.tasks.trackInBackground(Promise.reject(error));
  const renewal = new LeaseRenewal({
    renew: () => isRenewed(env, turn),
    lostError: () => new TurnLostError(turn.sessionId),
    ttlMs: turn.ttlMs,
    askedAt,
    onError,
  });
  const { signal } = renewal;
  try {
    const result = await work({ ...turn, signal });
    renewal.checkTime();
    signal.throwIfAborted();
    return result;
  } catch (error) {
    throw isAbort(error) && signal.aborted ? signal.reason : error;
  } finally {
    renewal.stop();
    await env.tasks.track(endTurn(env, turn)).catch(unlessGone(onError));
  }
}

async function isRenewed(env: SessionEnvironment, turn: Turn): Promise<boolean> {
  try {
    await env.tasks.track(renewTurn(env, turn));
    return true;
  } catch (error) {
    if (error instanceof TurnLostError || error instanceof SessionNotFoundError) return false;
    throw error;
  }
}

/** What work throws that was stopped by the signal, without its reason. May come from another realm. */
function isAbort(error: unknown): boolean {
  return (error as { readonly name?: unknown } | null | undefined)?.name === 'AbortError';
}

/** The turn of a deleted session is over. Of another failure it ends by itself, and the result does not depend on it. */
function unlessGone(onError: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof SessionNotFoundError)) onError(error);
  };
}
