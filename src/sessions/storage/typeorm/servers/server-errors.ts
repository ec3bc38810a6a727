import { codeOf, isError } from '../driver-errors.js';

/** Others were in the way, and the next try may succeed: deadlocks, failed serialisations, locks that were not to be had. */
const CONFLICTS = new Set(['40P01', '40001', '55P03', 'ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT', 'ER_CHECKREAD']);

/** Somebody else inserted the same key first. */
const TAKEN_KEYS = new Set(['23505', 'ER_DUP_ENTRY']);

export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(codeOf(error));
}

/** Whether the next try finds a row where this one found none: somebody got on, so this cannot go on for ever. */
export function isKeyTaken(error: unknown): boolean {
  return TAKEN_KEYS.has(codeOf(error));
}

/** Refusals after which a server closes the connection, or did not open one. */
const ENDINGS =
  /^(08...|57P0.|53300|26000|0A000|ER_CON_COUNT_ERROR|ER_TOO_MANY_USER_CONNECTIONS|ER_SERVER_SHUTDOWN|ER_CONNECTION_KILLED)$/;

/** Codes of Node and of drivers, as opposed to those that a server answered with. */
const CLIENT_SIDE = /^(E[A-Z]+|EAI_[A-Z]+|PROTOCOL_[A-Z_]+)$/;

/** Whether a connection is of no use any more; what it was asked for last may have been done or not. */
export function isConnectionLost(error: unknown): boolean {
  if (!isError(error)) return false;
  const code = codeOf(error);
  if (code === '') return /connect|closed|terminated|timeout/i.test(error.message);
  return ENDINGS.test(code) || CLIENT_SIDE.test(code) || (error as { fatal?: unknown }).fatal === true;
}
