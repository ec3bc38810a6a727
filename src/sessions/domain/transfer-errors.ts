import { SessionsError } from './errors.js';

/**
 * The file, or the data of another system, cannot be read. What came before this line is imported.
 *
 * @example if (error instanceof TransferFileError) console.error(`line ${error.line}: ${error.message}`);
 */
export class TransferFileError extends SessionsError {
  readonly code = 'TRANSFER_FILE_INVALID';
  readonly status = 422;

  constructor(
    readonly problem: string,
    /** Counted from 1; 0 if the problem is in no line. */
    readonly line = 0,
  ) {
    super(line > 0 ? `Line ${line} cannot be imported: ${problem}.` : `The data cannot be imported: ${problem}.`);
  }
}

/**
 * The target has a session of the same id with other events.
 *
 * @example await importSessions(target, lines, { onConflict: 'skip' }); // reports conflicts instead
 */
export class TransferConflictError extends SessionsError {
  readonly code = 'TRANSFER_CONFLICT';
  readonly status = 409;

  constructor(
    readonly sessionId: string,
    readonly problem: string,
  ) {
    super(
      `The session ${JSON.stringify(sessionId)} is in the target already and differs: ${problem}. Delete one of them, or skip ` +
        "conflicts with `onConflict: 'skip'`.",
    );
  }
}
