import { setTimeout as wait } from 'node:timers/promises';
import { TurnHeldError } from './domain/errors/errors.js';
import type { BeginTurnRequest, HeldTurn } from './operations/index.js';
import type { SessionService } from './session.service.js';

/** How to get the turn. */
export interface TurnWait {
  /** How long to wait while another writer has the turn. Default 0: fail immediately with `TurnHeldError`. */
  readonly waitMs?: number | undefined;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
}

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 500;

/**
 * Like `withTurn` of the service, and waits for the turn. Those who wait are not ordered.
 *
 * @example await withAwaitedTurn(sessions, { ...key, waitMs: 60_000 }, (turn) => answer(turn));
 */
export async function withAwaitedTurn<Result>(
  sessions: Pick<SessionService, 'withTurn'>,
  { waitMs = 0, signal, ...request }: BeginTurnRequest & TurnWait,
  work: (turn: HeldTurn) => Result | Promise<Result>,
): Promise<Result> {
  const deadline = performance.now() + waitMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    let hasBegun = false;
    try {
      return await sessions.withTurn(request, (turn) => {
        hasBegun = true;
        return work(turn);
      });
    } catch (error) {
      const left = deadline - performance.now();
      if (hasBegun || !(error instanceof TurnHeldError) || left <= 0) throw error;
      await wait(Math.min(pause, left), undefined, { signal });
    }
  }
}
