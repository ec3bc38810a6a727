import { SessionsError } from '../sessions/domain/errors.js';

/**
 * The session is there, and nothing of it is summarised.
 *
 * @example if (error instanceof SummaryNotFoundError) await client.createSummary({ ...key, force: true });
 */
export class SummaryNotFoundError extends SessionsError {
  readonly code = 'SUMMARY_NOT_FOUND';
  readonly status = 404;

  constructor(readonly sessionId: string) {
    super(
      `Session ${JSON.stringify(sessionId)} has no summary. Create one, by force where it is not due yet; ` +
        'there has to be more than keepRecentEvents keeps.',
    );
  }
}

/**
 * The model gave no summary that can be kept. The session is as it was; what was due stays due.
 *
 * @example if (error instanceof SummaryFailedError) logger.warn(error.message); // the session is as it was
 */
export class SummaryFailedError extends SessionsError {
  readonly code = 'SUMMARY_FAILED';
  readonly status = 502;

  constructor(model: string, reason: string, options?: ErrorOptions) {
    super(
      `The model ${JSON.stringify(model)} gave no summary: ${reason}. Nothing was changed; try again later.`,
      options,
    );
  }

  /** What a model says of itself may name keys, addresses and parts of the conversation. */
  override get publicMessage(): string {
    return 'The model gave no summary. Nothing was changed; try again later.';
  }
}
