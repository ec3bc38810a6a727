import { types } from 'node:util';
import { QueryFailedError } from 'typeorm';
import { ConfigurationError } from '../../../../config/configuration-error.js';
import { LimitExceededError, SessionsError, StoreUnavailableError } from '../../../domain/errors/errors.js';

/** What ER_UNKNOWN_COM_ERROR means. MySQL has no other use for it. */
export const NOT_IN_CLUSTER = 'it is a Galera node that lost the majority of its cluster, or is still joining';

/** Error codes that an operator must act on. */
const REASONS = [
  { codes: /^(42501|ER_(TABLE|COLUMN|DB)ACCESS_DENIED_ERROR)$/, reason: 'its user lacks a right' },
  {
    codes: /^(25006|ER_OPTION_PREVENTS_STATEMENT|ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION)$/,
    reason: 'it is read-only, for example a replica',
  },
  { codes: /^SQLITE_(READONLY.*|CANTOPEN)$/, reason: 'its file or folder is not writable' },
  { codes: /^(53100|ER_DISK_FULL|ER_RECORD_FILE_FULL|SQLITE_FULL)$/, reason: 'its disk is full' },
  { codes: /^(53300|ER_CON_COUNT_ERROR|ER_TOO_MANY_USER_CONNECTIONS)$/, reason: 'it has too many connections' },
  { codes: /^ER_UNKNOWN_COM_ERROR$/, reason: NOT_IN_CLUSTER },
  { codes: /^(42P05|26000)$/, reason: 'a pooler shares connections, so set pooler to transaction' },
];

/** What to do about a pooler of PostgreSQL whose connections may all be taken. */
export const POOLER_IS_FULL =
  'a pooler may have no connection left: in session mode, its default_pool_size must be at least the sum of the pools of all instances';

const STATEMENT_MODE = /statement pooling mode/;

/** What PgBouncer says with the code of all errors of the protocol. */
const POOLER_MESSAGES = [
  { message: STATEMENT_MODE, reason: 'a pooler has pool_mode = statement, so set it to transaction or session' },
  { message: /query_wait_timeout/, reason: POOLER_IS_FULL },
];

/** Whether a pooler refuses transactions until it has another mode. */
export function isStatementMode({ message }: Error): boolean {
  return STATEMENT_MODE.test(message);
}

function findFailureReason(error: Error): string | undefined {
  const code = findDriverErrorCode(error);
  const reasonOfPooler = POOLER_MESSAGES.find(({ message }) => message.test(error.message))?.reason;
  return code === '08P01' ? reasonOfPooler : REASONS.find(({ codes }) => codes.test(code))?.reason;
}

/** Whether another process has locked the SQLite file. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(findDriverErrorCode(error));
}

/**
 * Converts an error of a driver. It does not keep the original error, which may contain the statement with its values,
 * and so the content of conversations.
 *
 * @param server host and port, for the log
 */
export function storeUnavailable(error: unknown, outcomeUnknown: boolean, server?: string): unknown {
  if (error instanceof SessionsError || error instanceof ConfigurationError) return error;
  if (!isError(error) || (!(error instanceof QueryFailedError) && !isDriverError(error))) return error;
  const code = findDriverErrorCode(error) || 'connection lost';
  const reason = findFailureReason(error);
  if (code === 'ER_NET_PACKET_TOO_LARGE') {
    return new LimitExceededError('This is more than the database takes at once; raise its max_allowed_packet.');
  }
  const cause = new Error(`The database driver reported ${code}`);
  const details = reason === undefined ? code : `${code}: ${reason}`;
  return unavailable(server, `failed to run a statement (${details}).`, outcomeUnknown, { cause });
}

const UNIQUE_VIOLATION = '23505';
const SERIALIZATION_FAILURE = '40001';

/**
 * Converts an error of a driver for a transaction of the app. The app gets what its own statements throw, and may retry the
 * transaction. The statement and its values are left out. A row that PostgreSQL refuses twice was inserted by another
 * transaction, and the snapshot of this one does not show it.
 */
export function queryFailed(error: unknown): unknown {
  const outside = storeUnavailable(error, false);
  if (!(outside instanceof StoreUnavailableError) || outside === error) return outside;
  const driverError = (error instanceof QueryFailedError ? error.driverError : error) as Record<string, unknown>;
  const { code, errno, sqlState, severity, fatal } = driverError;
  const told = Object.entries({
    code: code === UNIQUE_VIOLATION ? SERIALIZATION_FAILURE : code,
    errno,
    sqlState,
    severity,
    fatal,
  }).filter(([, value]) => value !== undefined);
  const bare = Object.assign(
    new Error(`The database driver reported ${findDriverErrorCode(error)}`),
    Object.fromEntries(told),
  );
  return new QueryFailedError('an append of events', [], bare);
}

/** @param isMute whether a new connection has answered nothing at all since its login */
export function databaseTimedOut(
  timeLimitMs: number,
  outcomeUnknown: boolean,
  server?: string,
  isMute = false,
): StoreUnavailableError {
  const hint = isMute ? ` on a new connection (${POOLER_IS_FULL})` : '';
  return unavailable(server, `did not answer within ${timeLimitMs} ms (timeLimitMs)${hint}.`, outcomeUnknown);
}

function unavailable(
  server: string | undefined,
  what: string,
  outcomeUnknown: boolean,
  options?: ErrorOptions,
): StoreUnavailableError {
  const publicReason = `The database ${what}`;
  const reason = server === undefined ? publicReason : `The database at ${server} ${what}`;
  return new StoreUnavailableError(reason, outcomeUnknown, { ...options, publicReason });
}

/** The code of an error of a driver or Node, `error N` for a number without a name, or an empty string. */
export function findDriverErrorCode(error: unknown): string {
  const driverError: unknown = error instanceof QueryFailedError ? error.driverError : error;
  const { code, errno } = (driverError ?? {}) as { code?: unknown; errno?: unknown };
  if (typeof code === 'string') return code;
  return typeof errno === 'number' ? `error ${errno}` : '';
}

/** Recognises errors of other realms too. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value);
}

function isDriverError(error: unknown): boolean {
  return (
    isError(error) &&
    (/connection|not open|closed|already released|timeout/i.test(error.message) || findDriverErrorCode(error) !== '')
  );
}

/** A retry may succeed after these: deadlocks, serialisation failures, lock timeouts, and other writers of a cluster. */
const CONFLICTS = new Set([
  '40P01',
  '40001',
  '55P03',
  'ER_LOCK_DEADLOCK',
  'ER_LOCK_WAIT_TIMEOUT',
  'ER_CHECKREAD',
  'ER_TRANSACTION_ROLLBACK_DURING_COMMIT',
  // Behind a proxy, the next connection may lead to another node.
  'ER_UNKNOWN_COM_ERROR',
]);

/** Another transaction inserted the same key first. */
const DUPLICATE_KEYS = new Set(['23505', 'ER_DUP_ENTRY']);

export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(findDriverErrorCode(error));
}

/** A retry finds the row that another transaction inserted. Retries end, because that transaction made progress. */
export function isDuplicateKey(error: unknown): boolean {
  return DUPLICATE_KEYS.has(findDriverErrorCode(error));
}

/** Errors after which the server closes the connection. */
const CLOSING_CODES =
  /^(08...|57P0.|53300|26000|0A000|ER_CON_COUNT_ERROR|ER_TOO_MANY_USER_CONNECTIONS|ER_SERVER_SHUTDOWN|ER_CONNECTION_KILLED)$/;

/** Codes of Node and of drivers, not of servers. */
const CLIENT_SIDE = /^(E[A-Z]+|EAI_[A-Z]+|PROTOCOL_[A-Z_]+)$/;

/** Whether nobody knows if a COMMIT that failed with this error was stored. A node may leave its cluster while it asks the others. */
export function isCommitInDoubt(error: unknown): boolean {
  return isConnectionLost(error) || findDriverErrorCode(error) === 'ER_ERROR_DURING_COMMIT';
}

/** Whether a connection is unusable. The outcome of its last statement is unknown. */
export function isConnectionLost(error: unknown): boolean {
  if (!isError(error)) return false;
  const code = findDriverErrorCode(error);
  if (code === '') return /connect|closed|terminated|timeout/i.test(error.message);
  return CLOSING_CODES.test(code) || CLIENT_SIDE.test(code) || (error as { fatal?: unknown }).fatal === true;
}
