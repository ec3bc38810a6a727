import { types } from 'node:util';
import { QueryFailedError } from 'typeorm';
import { ConfigurationError } from '../../../config/configuration-error.js';
import { LimitExceededError, SessionsError, StoreUnavailableError } from '../../domain/errors.js';

/** What codes mean that somebody has to do something about. */
const REASONS = [
  { codes: /^(42501|ER_(TABLE|COLUMN|DB)ACCESS_DENIED_ERROR)$/, reason: 'its user lacks a right' },
  {
    codes: /^(25006|ER_OPTION_PREVENTS_STATEMENT|ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION)$/,
    reason: 'it takes no writes, as a replica does not',
  },
  { codes: /^SQLITE_(READONLY.*|CANTOPEN)$/, reason: 'its file or its folder may not be written' },
  { codes: /^(53100|ER_DISK_FULL|ER_RECORD_FILE_FULL|SQLITE_FULL)$/, reason: 'its disk is full' },
  { codes: /^(53300|ER_CON_COUNT_ERROR|ER_TOO_MANY_USER_CONNECTIONS)$/, reason: 'it has too many connections' },
  { codes: /^(42P05|26000)$/, reason: 'a pooler shares its connections, so set preparedStatements to false' },
];

/** Whether another process holds the lock of a SQLite file. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error));
}

/**
 * What a driver says, as an error of ours. The driver's own error is not passed on: it may hold the statement
 * with its values, which are the content of conversations.
 */
export function storeUnavailable(error: unknown, outcomeUnknown: boolean): unknown {
  if (error instanceof SessionsError || error instanceof ConfigurationError) return error;
  if (!(error instanceof QueryFailedError) && !isDriverError(error)) return error;
  const code = codeOf(error) || 'connection lost';
  const reason = REASONS.find(({ codes }) => codes.test(code))?.reason;
  if (code === 'ER_NET_PACKET_TOO_LARGE') {
    return new LimitExceededError('This is more than the database takes at once; raise its max_allowed_packet.');
  }
  const cause = new Error(`The database driver reported ${code}`);
  const said = reason === undefined ? code : `${code}: ${reason}`;
  return new StoreUnavailableError(`The database did not carry out a statement (${said}).`, outcomeUnknown, { cause });
}

/** The code that a driver or Node gave to an error, a number where the driver knows no name; empty where it has none. */
export function codeOf(error: unknown): string {
  const driverError: unknown = error instanceof QueryFailedError ? error.driverError : error;
  const { code, errno } = (driverError ?? {}) as { code?: unknown; errno?: unknown };
  if (typeof code === 'string') return code;
  return typeof errno === 'number' ? `error ${errno}` : '';
}

/** Also where it was made by Node outside of the context that this code runs in. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value);
}

function isDriverError(error: unknown): boolean {
  return (
    isError(error) &&
    (/connection|not open|closed|already released|timeout/i.test(error.message) || codeOf(error) !== '')
  );
}
