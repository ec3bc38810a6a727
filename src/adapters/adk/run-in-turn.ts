import type { Event as AdkEvent, Runner } from '@google/adk';
import { withAwaitedTurn } from '../../adapter.js';
import type { HeldTurn, SessionService } from '../../index.js';
import { callInTurn } from './running-turns.js';

type RunRequest = Parameters<Runner['runAsync']>[0];

/** What `runAsync` of the runner takes, and how the run gets its turn. */
export type RunInTurnRequest = RunRequest & {
  /** How long to wait while another run has the turn. Default 0: fail immediately with `TurnHeldError`. */
  readonly waitMs?: number | undefined;
  /** How long the session waits after a crash of this process. Default: 30 seconds. */
  readonly ttlMs?: number | undefined;
  /** Names this run to others. Default: host name and process id. */
  readonly holder?: string | undefined;
};

/**
 * Runs an agent in a turn of its session. What the run appends to the session proves the turn.
 *
 * @param service holds the turn while the agent works
 */
export async function* runInTurn(
  sessions: SessionService,
  service: object,
  runner: Runner,
  { waitMs, ttlMs, holder, ...request }: RunInTurnRequest,
): AsyncGenerator<AdkEvent, void, undefined> {
  const { userId, sessionId, abortSignal } = request;
  const wanted = { appName: runner.appName, userId, sessionId, waitMs, ttlMs, holder, signal: abortSignal };
  const { turn, end } = await holdTurn(sessions, wanted);
  // Node keeps an `any` in memory if ADK goes on listening to it.
  const signal = abortSignal ? AbortSignal.any([abortSignal, turn.signal]) : turn.signal;
  const events = runner.runAsync({ ...request, abortSignal: signal });
  let isOver = false;
  try {
    for (;;) {
      // Each step runs in the context of whoever asks for it.
      const { value, done } = await callInTurn(service, turn, () => events.next());
      isOver = done === true;
      if (done) break;
      yield value;
    }
  } catch (error) {
    isOver = true;
    throw error;
  } finally {
    try {
      if (!isOver) await callInTurn(service, turn, () => events.return(undefined));
    } finally {
      await end();
    }
  }
}

/** Begins a turn, and holds it until `end` is called. `end` fails if the turn was lost. */
function holdTurn(
  sessions: SessionService,
  request: Parameters<typeof withAwaitedTurn>[1],
): Promise<{ readonly turn: HeldTurn; readonly end: () => Promise<void> }> {
  return new Promise((resolve, reject) => {
    const held = withAwaitedTurn(
      sessions,
      request,
      (turn) =>
        new Promise<void>((over) => {
          const end = async (): Promise<void> => {
            over();
            await held;
          };
          resolve({ turn, end });
        }),
    );
    held.catch(reject);
  });
}
