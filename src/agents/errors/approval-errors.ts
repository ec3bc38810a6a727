import { SessionsError } from '../../sessions/domain/errors/errors.js';

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

/**
 * Nobody answered in time, so the request counts as refused. The agent goes on with the refusal.
 *
 * @example if (error instanceof ApprovalExpiredError) show('Too late: ask again');
 */
export class ApprovalExpiredError extends SessionsError {
  readonly code = 'APPROVAL_EXPIRED';
  readonly status = 409;

  constructor(
    readonly approvalId: string,
    /** When it expired. Missing if that is no longer known. */
    readonly expiresAt?: number,
  ) {
    const when = expiresAt === undefined ? '' : ` at ${new Date(expiresAt).toISOString()}`;
    super(`The approval ${JSON.stringify(approvalId)} expired${when}, and counts as refused. Ask the agent again.`);
  }
}

/**
 * The run that asked was stopped, which took its requests back.
 *
 * @example if (error instanceof ApprovalWithdrawnError) show('Nobody asks that any more');
 */
export class ApprovalWithdrawnError extends SessionsError {
  readonly code = 'APPROVAL_WITHDRAWN';
  readonly status = 409;

  constructor(readonly approvalId: string) {
    super(
      `The approval ${JSON.stringify(approvalId)} was withdrawn: the run that asked was stopped. List the pending ones.`,
    );
  }
}

/**
 * A handler asked something else under an id that it, or an earlier call of it, had used. An answer counts for the question that
 * the user saw.
 *
 * @example
 * await tool.requestApproval({ id: `refund-${order}`, hint: `Refund ${order}?` }); // an id for each question
 */
export class ApprovalChangedError extends SessionsError {
  readonly code = 'APPROVAL_CHANGED';
  readonly status = 409;

  constructor(
    readonly approvalId: string,
    /** What differs: `hint`, `payload` or `schema`. */
    readonly difference: string,
  ) {
    super(
      `The approval ${JSON.stringify(approvalId)} was asked for before with another ${difference}. Give each question an id of its ` +
        'own, or none. When the handler is called again, it must ask the same: take the question from arguments and state.',
    );
  }
}
