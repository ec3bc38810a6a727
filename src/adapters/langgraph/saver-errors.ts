import { SessionsError } from '../../sessions/domain/errors.js';

/**
 * Another run continued the thread since this one read it. Nothing of this run is stored from here on.
 *
 * @example if (error instanceof StaleThreadError) return graph.invoke(input, config); // it reads the thread again
 */
export class StaleThreadError extends SessionsError {
  readonly code = 'STALE_SESSION';
  readonly status = 409;

  constructor(
    readonly threadId: string,
    /** The checkpoint that this run would have continued; `undefined` for the beginning. */
    readonly checkpointId: string | undefined,
    /** The newest checkpoint. */
    readonly currentCheckpointId: string | undefined,
  ) {
    super(
      `Another run continued thread ${JSON.stringify(threadId)} after ${checkpointId ? `checkpoint ${checkpointId}` : 'its beginning'}. ` +
        'Start the run again, or use inTurn, so that runs wait for each other.',
    );
  }
}
