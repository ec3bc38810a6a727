import { ConfigurationError } from '../../../../config/configuration-error.js';
import { tlsProblem } from '../../../../config/tls-settings.js';
import { SessionsError, StoreUnavailableError } from '../../../domain/errors/errors.js';
import type { RedisKeys } from '../redis-keys.js';
import type { RedisClient } from './redis-options.js';

/** Errors after which the command certainly did not run. */
const NOT_RUN =
  /^(Stream isn't writeable|ASK|BUSY|CLUSTERDOWN|CROSSSLOT|LOADING|MASTERDOWN|MISCONF|MOVED|NOAUTH|NOPERM(?! ACL failure in script)|NOREPLICAS|NOSCRIPT|OOM|READONLY|TRYAGAIN|WRONGPASS)\b/;

/** Errors of the client about a lost or missing connection. */
const CONNECTION_LOST =
  /^(Stream isn't writeable|Connection is closed|Cluster isn't ready|Reached the max retries|Command aborted)/;
const CONNECTION_LOST_CODE = 'connection lost';

/** What the codes mean that an operator has to act on. */
const REASONS: Readonly<Partial<Record<string, string>>> = {
  LOADING: 'it is still loading its data',
  MISCONF: 'it cannot save its data',
  NOPERM: 'its user lacks a permission',
  NOREPLICAS: 'too few replicas follow it',
  OOM: 'its memory is full',
  READONLY: 'it is a replica and accepts no writes',
};

/** Whether the server does not know the SHA-1 of a script. */
export function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

/** Whether a key has the wrong type for a command. If a script ran it, the message begins with the name of the script. */
export function isWrongType(error: unknown): boolean {
  return /\bWRONGTYPE\b/.test(readErrorMessage(error));
}

/** Whether the connection broke, and the command did not change anything. */
export function isLostWithoutEffect(error: unknown, isWrite: boolean): boolean {
  return findRedisErrorCode(error) === CONNECTION_LOST_CODE && !(isWrite && mayHaveRun(error));
}

/** Whether the user lacks a permission. */
export function isNotPermitted(error: unknown): boolean {
  return readErrorMessage(error).startsWith('NOPERM');
}

/** Whether another node of the cluster has the keys. */
export function isMoved(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('MOVED');
}

/**
 * Converts an error of the driver. The original error is not attached: it contains the arguments of the command, which
 * are the content of conversations.
 *
 * @param server its name with host and port, for the operator
 */
export function storeUnavailable(error: unknown, isWrite: boolean, server = 'Redis'): unknown {
  if (error instanceof SessionsError) return error;
  const code = findRedisErrorCode(error);
  const outcomeUnknown = isWrite && mayHaveRun(error);
  const cause = new Error(`The Redis client reported ${code}`);
  const details = REASONS[code] === undefined ? code : `${code}: ${REASONS[code]}`;
  const reason = (name: string): string => `${name} did not run a command (${details}).`;
  return new StoreUnavailableError(reason(server), outcomeUnknown, { publicReason: reason('Redis'), cause });
}

export function timedOut(timeoutMs: number, isWrite: boolean, server: string): StoreUnavailableError {
  const reason = (name: string): string => `${name} did not respond within ${timeoutMs} ms.`;
  return new StoreUnavailableError(reason(server), isWrite, { publicReason: reason('Redis') });
}

/** What is known about a missing connection. */
interface MissingConnection {
  readonly server: string;
  /** Whether the server accepts connections but does not respond. */
  readonly isAccepted: boolean;
  /** The last error that the client reported, if any. */
  readonly lastError: unknown;
  /** Whether the client does not report TLS errors. */
  readonly hidesTls: boolean;
}

export function notConnected(
  timeoutMs: number,
  { server, isAccepted, lastError, hidesTls }: MissingConnection,
): StoreUnavailableError {
  const code = lastError === undefined ? '' : findRedisErrorCode(lastError);
  const cause = isAccepted ? 'it accepts connections but does not respond' : code;
  const tls = hidesTls ? 'or its certificate cannot be verified, or it does not speak TLS there' : '';
  const details = [cause, tls].filter((each) => each !== '').join('; ');
  const suffix = details === '' ? '' : ` (${details})`;
  const reason = (name: string): string => `There was no connection to ${name} within ${timeoutMs} ms${suffix}.`;
  return new StoreUnavailableError(reason(server), false, { publicReason: reason('Redis') });
}

/** The error of `open()`. A refused login or a missing database is a configuration error: a retry would not help. */
export function openingFailure(error: unknown, lastError: unknown, server: string): unknown {
  if (readErrorMessage(lastError).includes('DB index is out of range')) {
    return new ConfigurationError([`${server} has no database of this number: take a smaller one.`], { cause: error });
  }
  const code = findRedisErrorCode(lastError);
  const encryption = tlsProblem(code, readErrorMessage(lastError), server);
  if (encryption !== undefined) return new ConfigurationError([encryption], { cause: error });
  if (!/^(WRONGPASS|NOAUTH|NOPERM)$/.test(code)) return error;
  return new ConfigurationError([`${server} refused the login (${code}): check user and password.`], { cause: error });
}

/**
 * The error for a key of the wrong type, with the kind of the key. Scripts read all keys before the first write, so
 * nothing was written.
 */
export async function wrongTypeError(
  client: RedisClient,
  keys: RedisKeys,
  keysOfScript: readonly string[],
): Promise<StoreUnavailableError> {
  const cause = new Error('The Redis client reported WRONGTYPE');
  for (const key of keysOfScript) {
    const kind = keys.kindOf(key);
    const found = kind && (await client.type(key).catch(() => 'none'));
    if (!kind || found === 'none' || found === kind.type) continue;
    const message = `The key ${kind.name} of Redis holds a ${found}, but this store keeps a ${kind.type} there: remove or rename the key.`;
    return new StoreUnavailableError(message, false, { cause });
  }
  return new StoreUnavailableError('A key of Redis has a type that this store does not use.', false, { cause });
}

/** Runs the steps after a successful write. If one fails, the outcome is unknown, because something was written. */
export async function afterWrite<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreUnavailableError) || error.outcomeUnknown) throw error;
    throw error.withOutcome(true);
  }
}

/** Runs a write that a read does for others. If it fails, the outcome is known: the reader itself writes nothing. */
export async function duringRead<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreUnavailableError) || !error.outcomeUnknown) throw error;
    throw error.withOutcome(false);
  }
}

/** The code of an error. A message of Redis begins with its code; the rest may contain arguments. */
function findRedisErrorCode(error: unknown): string {
  const { code, lastNodeError } = (error ?? {}) as { code?: unknown; lastNodeError?: unknown };
  if (typeof code === 'string') return code;
  // No node of the cluster can be reached.
  if (lastNodeError) return findRedisErrorCode(lastNodeError);
  if (CONNECTION_LOST.test(readErrorMessage(error))) return CONNECTION_LOST_CODE;
  if (readErrorMessage(error).startsWith('All sentinels are unreachable')) return 'no Sentinel responds';
  const word = /^[A-Z]{2,}\b/.exec(readErrorMessage(error))?.[0];
  return word ?? (error instanceof Error ? error.name : 'unknown error');
}

function mayHaveRun(error: unknown): boolean {
  return !NOT_RUN.test(readErrorMessage(error));
}

function readErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : '';
}
