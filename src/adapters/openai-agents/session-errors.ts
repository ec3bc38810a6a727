import { SessionsError } from '../../index.js';

/**
 * The history does not end with the items that a transaction would replace, or items were taken back while a compaction was
 * made. The history stays as it is.
 *
 * @example if (error instanceof StaleHistoryError) items = await session.getItems(); // and start the run again
 */
export class StaleHistoryError extends SessionsError {
  readonly code = 'STALE_SESSION';
  readonly status = 409;

  constructor(readonly sessionId: string) {
    super(
      `The history of session ${JSON.stringify(sessionId)} no longer matches what the transaction or compaction replaces. ` +
        'Read the items again, and start a new run from them.',
    );
  }
}

/**
 * A transaction with this operation id was applied before, with other content. Nothing was stored.
 *
 * @example if (error instanceof OperationConflictError) logger.warn(`${error.operationId} was used twice`);
 */
export class OperationConflictError extends SessionsError {
  readonly code = 'EVENT_CONFLICT';
  readonly status = 409;

  constructor(readonly operationId: string) {
    super(
      `Operation ${JSON.stringify(operationId)} was already applied with a different transaction. ` +
        'Use a new operation id for a new transaction.',
    );
  }
}
