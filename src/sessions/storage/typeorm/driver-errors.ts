import { QueryFailedError } from 'typeorm';
import { SessionsError, StoreUnavailableError } from '../../domain/errors.js';

/** Whether another process holds the lock that was asked for. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error));
}

/**
 * What a driver says, as an error of ours. The driver's own error is not passed on: TypeORM's holds the
 * statement with its values, which are the content of conversations.
 */
export function storeUnavailable(error: unknown, outcomeUnknown: boolean): unknown {
  if (error instanceof SessionsError) return error;
  if (!(error instanceof QueryFailedError) && !isConnectionError(error)) return error;
  const code = codeOf(error) || 'unknown error';
  const cause = new Error(`The database driver reported ${code}`);
  return new StoreUnavailableError(`The database did not carry out a statement (${code}).`, outcomeUnknown, { cause });
}

function isConnectionError(error: unknown): boolean {
  return error instanceof Error && (/connection|not open|closed/i.test(error.message) || codeOf(error) !== '');
}

function codeOf(error: unknown): string {
  const driverError: unknown = error instanceof QueryFailedError ? error.driverError : error;
  const code = (driverError as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : '';
}
