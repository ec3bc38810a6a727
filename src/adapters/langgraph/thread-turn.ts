import type { RunnableConfig } from '@langchain/core/runnables';
import { withAwaitedTurn } from '../../adapter.js';
import type { SessionKey, SessionService } from '../../index.js';
import { TURN_FIELD } from './thread-address.js';

/** How a run gets its turn. */
export interface InTurnOptions {
  /** How long to wait while another run has the turn. Default 0: fail immediately with `TurnHeldError`. */
  readonly waitMs?: number | undefined;
  /** See `withTurn` of the service. */
  readonly ttlMs?: number | undefined;
  readonly holder?: string | undefined;
}

/** Runs work in a turn of the session, and gives it a config that proves the turn with each write. */
export async function runInTurn<Config extends RunnableConfig, Result>(
  sessions: SessionService,
  key: SessionKey,
  config: Config,
  work: (config: Config & { readonly signal: AbortSignal }) => Result | Promise<Result>,
  options: InTurnOptions,
): Promise<Result> {
  return withAwaitedTurn(sessions, { ...key, ...options, signal: config.signal }, (turn) => {
    const signal = config.signal ? AbortSignal.any([config.signal, turn.signal]) : turn.signal;
    return work({ ...config, signal, configurable: { ...config.configurable, [TURN_FIELD]: turn.token } });
  });
}
