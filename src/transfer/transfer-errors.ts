import { SessionsError } from '../sessions/domain/errors/errors.js';
import type { SessionKey } from '../sessions/domain/values/ids.js';

/**
 * The file, or the data of another system, cannot be read. What came before this line is imported. `onBad: 'skip'` leaves out what
 * is wrong.
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
    /** The session that cannot be imported, as far as it is known. */
    readonly session: Partial<SessionKey> = {},
  ) {
    super(`${subjectOf(line, session)} cannot be imported: ${problem}.`);
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
        "conflicts with `onConflict: 'skip'`, or --skip-conflicts of the command line.",
    );
  }
}

/** Ids of other systems may be of any length. */
const MOST_SHOWN = 500;

function subjectOf(line: number, session: Partial<SessionKey>): string {
  if (session.sessionId !== undefined) return `The session ${JSON.stringify(session).slice(0, MOST_SHOWN)}`;
  if (session.appName !== undefined) return `What belongs to ${JSON.stringify(session).slice(0, MOST_SHOWN)}`;
  return line > 0 ? `Line ${line}` : 'The data';
}
