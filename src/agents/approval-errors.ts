import { SessionsError } from '../sessions/domain/errors.js';

/**
 * The session waits for no such approval, and none was answered in what is kept of its log.
 *
 * @example if (error instanceof ApprovalNotFoundError) return reply.status(404).send();
 */
export class ApprovalNotFoundError extends SessionsError {
  readonly code = 'APPROVAL_NOT_FOUND';
  readonly status = 404;

  constructor(readonly approvalId: string) {
    super(`There is no approval ${JSON.stringify(approvalId)} to answer. List the pending ones.`);
  }
}

/**
 * The approval was answered before, with another answer. That one counts.
 *
 * @example if (error instanceof ApprovalAnsweredError) show('Somebody else decided already');
 */
export class ApprovalAnsweredError extends SessionsError {
  readonly code = 'APPROVAL_ANSWERED';
  readonly status = 409;

  constructor(
    readonly approvalId: string,
    /** The event with the answer. */
    readonly seq: number,
  ) {
    super(`The approval ${JSON.stringify(approvalId)} has another answer already (seq ${seq}). Read that one.`);
  }
}
