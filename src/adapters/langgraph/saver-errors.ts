import { SessionsError } from '../../index.js';

/**
 * The thread is not as this run knows it: since then, another run continued it, or it was rewound or deleted. Nothing of this run
 * is stored from here on.
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
    /** The newest checkpoint; `undefined` if there is none. */
    readonly currentCheckpointId: string | undefined,
  ) {
    const thread = `thread ${JSON.stringify(threadId)}`;
    const place = checkpointId === undefined ? 'its beginning' : `checkpoint ${checkpointId}`;
    const happened = currentCheckpointId
      ? `Since this run read ${thread} at ${place}, another run continued it, or it was rewound: its newest checkpoint is ${currentCheckpointId} now. `
      : `Since this run read ${thread} at ${place}, it was deleted, or rewound to before its first checkpoint. `;
    super(`${happened}Start the run again, or use inTurn, so that runs wait for each other.`);
  }
}
