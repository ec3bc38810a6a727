import { setTimeout as wait } from 'node:timers/promises';
import type { RunnableConfig } from '@langchain/core/runnables';
import { TurnHeldError } from '../../sessions/domain/errors.js';
import type { SessionKey } from '../../sessions/domain/ids.js';
import type { SessionService } from '../../sessions/session.service.js';
import { TURN_FIELD } from './thread-address.js';

/** How a run gets its turn. */
export interface InTurnOptions {
  /** How long to wait while another run has the turn. Default 0: fail immediately with `TurnHeldError`. */
  readonly waitMs?: number | undefined;
  /** See `withTurn` of the service. */
  readonly ttlMs?: number | undefined;
  readonly holder?: string | undefined;
}

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 500;

/** Runs work in a turn of the session, and gives it a config that proves the turn with each write. */
export async function runInTurn<Config extends RunnableConfig, Result>(
  sessions: SessionService,
  key: SessionKey,
  config: Config,
  work: (config: Config & { readonly signal: AbortSignal }) => Result | Promise<Result>,
  { waitMs = 0, ...options }: InTurnOptions,
): Promise<Result> {
  const deadline = performance.now() + waitMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    let hasBegun = false;
    try {
      return await sessions.withTurn({ ...key, ...options }, (turn) => {
        hasBegun = true;
        const signal = config.signal ? AbortSignal.any([config.signal, turn.signal]) : turn.signal;
        return work({ ...config, signal, configurable: { ...config.configurable, [TURN_FIELD]: turn.token } });
      });
    } catch (error) {
      const left = deadline - performance.now();
      if (hasBegun || !(error instanceof TurnHeldError) || left <= 0) throw error;
      await wait(Math.min(pause, left), undefined, { signal: config.signal });
    }
  }
}
