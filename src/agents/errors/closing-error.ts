import { SessionsError } from '../../sessions/domain/errors/errors.js';

/**
 * The agents of this instance close: they begin no run, and hand over what runs. Nothing is lost. The same request with this
 * `invocationId` goes on at another instance.
 *
 * @example
 * if (error instanceof AgentsClosingError) await retry({ ...request, invocationId: error.invocationId });
 */
export class AgentsClosingError extends SessionsError {
  readonly code = 'AGENTS_CLOSING';
  readonly status = 503;

  constructor(readonly invocationId: string) {
    super(
      `This instance closes. Send the request again with the invocationId ${JSON.stringify(invocationId)}: another instance goes on with it.`,
    );
  }
}
