import { SessionsError } from '../sessions/domain/errors/errors.js';

/**
 * The session exists, but has no summary.
 *
 * @example if (error instanceof SummaryNotFoundError) await client.createSummary({ ...key, force: true });
 */
export class SummaryNotFoundError extends SessionsError {
  readonly code = 'SUMMARY_NOT_FOUND';
  readonly status = 404;

  constructor(readonly sessionId: string) {
    super(
      `Session ${JSON.stringify(sessionId)} has no summary. Create one, with force if it is not due yet; ` +
        'there must be more events than keepRecentEvents.',
    );
  }
}

/**
 * The model returned no usable summary. The session is unchanged, and the summary stays due.
 *
 * @example if (error instanceof SummaryFailedError) logger.warn(error.message); // the session is unchanged
 */
export class SummaryFailedError extends SessionsError {
  readonly code = 'SUMMARY_FAILED';
  readonly status = 502;

  constructor(model: string, reason: string, options?: ErrorOptions) {
    super(
      `The model ${JSON.stringify(model)} gave no summary: ${reason.trimEnd().replace(/\.$/, '')}. Nothing was changed; try again later.`,
      options,
    );
  }

  /** Without the reason: it may contain keys, addresses and parts of the conversation. */
  override get publicMessage(): string {
    return 'The model gave no summary. Nothing was changed; try again later.';
  }
}
