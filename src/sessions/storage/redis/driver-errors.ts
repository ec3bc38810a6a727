import { ConfigurationError } from '../../../config/configuration-error.js';
import { SessionsError, StoreUnavailableError } from '../../domain/errors.js';

/** By which a server says that it did not even begin, or the client that it sent nothing. */
const NOTHING_DONE =
  /^(Stream isn't writeable|ASK|BUSY|CLUSTERDOWN|CROSSSLOT|LOADING|MASTERDOWN|MISCONF|MOVED|NOAUTH|NOPERM(?! ACL failure in script)|NOREPLICAS|NOSCRIPT|OOM|READONLY|TRYAGAIN|WRONGPASS)\b/;

/** How the client says that it lost its connection, or that there is none. */
const CONNECTION_LOST =
  /^(Stream isn't writeable|Connection is closed|Cluster isn't ready|Reached the max retries|Command aborted)/;

/** What codes mean that somebody has to do something about. */
const REASONS: Readonly<Partial<Record<string, string>>> = {
  LOADING: 'it is still loading its data',
  MISCONF: 'it cannot save its data',
  NOPERM: 'its user lacks a right',
  NOREPLICAS: 'too few replicas follow it',
  OOM: 'its memory is full',
  READONLY: 'it is a replica, which takes no writes',
};

/** Whether the server does not know a script that it is asked to run by its name. */
export function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

/** Whether the server refused what its user has no right to. */
export function isNotPermitted(error: unknown): boolean {
  return messageOf(error).startsWith('NOPERM');
}

/** Whether a node of a cluster says that another one has the keys. */
export function isMoved(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('MOVED');
}

/**
 * What a driver says, as an error of ours. The driver's own error is not passed on: it holds the command with
 * its arguments, which are the content of conversations.
 */
export function storeUnavailable(error: unknown, isWrite: boolean): unknown {
  if (error instanceof SessionsError) return error;
  const code = codeOf(error);
  const outcomeUnknown = isWrite && !NOTHING_DONE.test(messageOf(error));
  const cause = new Error(`The Redis client reported ${code}`);
  const said = REASONS[code] === undefined ? code : `${code}: ${REASONS[code]}`;
  return new StoreUnavailableError(`Redis did not carry out a command (${said}).`, outcomeUnknown, { cause });
}

export function timedOut(timeoutMs: number, isWrite: boolean): StoreUnavailableError {
  return new StoreUnavailableError(`Redis did not answer within ${timeoutMs} ms.`, isWrite);
}

/** @param last what the client reported last, if it did */
export function notConnected(timeoutMs: number, last: unknown): StoreUnavailableError {
  const reason = last === undefined ? '' : ` (${codeOf(last)})`;
  return new StoreUnavailableError(`There was no connection to Redis within ${timeoutMs} ms${reason}.`, false);
}

/** What is refused stays refused, unlike a server that is not there. */
export function openingFailure(error: unknown, last: unknown): unknown {
  if (messageOf(last).includes('DB index is out of range')) {
    return new ConfigurationError(['Redis has no database of this number: take a smaller one.'], { cause: error });
  }
  const code = codeOf(last);
  if (!/^(WRONGPASS|NOAUTH|NOPERM)$/.test(code)) return error;
  return new ConfigurationError([`Redis refused the login (${code}): check user and password.`], { cause: error });
}

/** Runs what follows a write that was carried out: whatever happens now, it cannot be said that nothing was written. */
export async function afterWrite<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreUnavailableError) || error.outcomeUnknown) throw error;
    throw new StoreUnavailableError('Redis did not carry out all that belongs to a write.', true, { cause: error });
  }
}

/** Runs what a read came upon and has to finish for others: whatever becomes of that, the reader has written nothing. */
export async function beforeAnswer<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreUnavailableError) || !error.outcomeUnknown) throw error;
    throw new StoreUnavailableError('Redis did not carry out what others had left to be done.', false, {
      cause: error,
    });
  }
}

/** The first word of an answer is its kind; what follows may hold arguments. */
function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  if (typeof code === 'string') return code;
  if (CONNECTION_LOST.test(messageOf(error))) return 'connection lost';
  const word = /^[A-Z]{2,}\b/.exec(messageOf(error))?.[0];
  return word ?? (error instanceof Error ? error.name : 'unknown error');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}
