import type { AppendOutcome, Commit } from '../stored/commit.js';
import { expiresAt, isExpired } from '../values/expiry.js';
import type { SessionRecord } from '../stored/session-record.js';
import type { StoredTurn, TurnBeginning, TurnOutcome, TurnRequest } from '../stored/turn.js';

/**
 * Decides about a change of a session's turn. If it is `changed`, the store writes the turn of the outcome into the
 * record, and nothing else: a turn renews no session, and no watch learns of it.
 *
 * @param record the stored session, expired or not
 *
 * @example
 * const outcome = turnOutcome(request, record, now);
 * if (outcome.kind === 'changed') record = { ...record, turn: outcome.turn };
 * return outcome;
 */
export function turnOutcome(request: TurnRequest, record: SessionRecord | undefined, now: number): TurnOutcome {
  if (!record || isExpired(record.expiresAt, now)) return { kind: 'missing' };
  const { turn } = record;
  if (request.action === 'begin') return beginning(request, turn, now);
  if (!isTurnHeld(turn, request.token, now)) return { kind: 'lost' };
  return { kind: 'changed', turn: request.action === 'end' ? ended(turn) : lasting(turn, request, now) };
}

/** A repeated request gets its turn again, since the answer to the first one may be lost. */
function beginning(request: TurnBeginning, turn: StoredTurn, now: number): TurnOutcome {
  const { token, holder, requestId } = request;
  if (isExpired(turn.expiresAt, now)) {
    return {
      kind: 'changed',
      turn: lasting({ ...turn, number: turn.number + 1, token, holder, requestId }, request, now),
      takesOver: turn.expiresAt > 0,
    };
  }
  const isRepeated = turn.holder === holder && turn.requestId === requestId;
  return isRepeated ? { kind: 'changed', turn: lasting(turn, request, now), takesOver: true } : { kind: 'held', turn };
}

function lasting(turn: StoredTurn, lifetime: { readonly ttlMs: number }, now: number): StoredTurn {
  return { ...turn, expiresAt: expiresAt(now, lifetime) };
}

/** The turn after its end. Its token and its number stay, so that the next turn has a higher number. */
export function ended(turn: StoredTurn): StoredTurn {
  return { ...turn, expiresAt: 0 };
}

/** Whether a rewind ends the turn of its session: it takes away what that turn builds on, unless it is a part of it. */
export function rewindEndsTurn({ preconditions, endsTurn }: Pick<Commit, 'preconditions' | 'endsTurn'>): boolean {
  return preconditions.turnToken === undefined || endsTurn === true;
}

function isTurnHeld(turn: StoredTurn, token: string, now: number): boolean {
  return turn.token === token && !isExpired(turn.expiresAt, now);
}

/**
 * Returns why a commit may not be written at this turn of the session. Summaries need no turn, since they make no
 * writer stale.
 */
export function turnRefusal(commit: Commit, record: SessionRecord, now: number): AppendOutcome | undefined {
  const { turnToken } = commit.preconditions;
  if (turnToken !== undefined) return isTurnHeld(record.turn, turnToken, now) ? undefined : { kind: 'turnLost' };
  return record.turnsOnly && commit.expiry ? { kind: 'turnRequired' } : undefined;
}
