import { SessionsError, StoreUnavailableError } from '../../domain/errors.js';

/** By which a server says that it did not even begin, or the client that it sent nothing. */
const NOTHING_DONE =
  /^(Stream isn't writeable|ASK|BUSY|CLUSTERDOWN|CROSSSLOT|LOADING|MASTERDOWN|MISCONF|MOVED|NOAUTH|NOPERM|NOREPLICAS|NOSCRIPT|OOM|READONLY|TRYAGAIN|WRONGPASS)\b/;

/** Whether the server does not know a script that it is asked to run by its name. */
export function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
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
  return new StoreUnavailableError(`Redis did not carry out a command (${code}).`, outcomeUnknown, { cause });
}

export function timedOut(timeoutMs: number, isWrite: boolean): StoreUnavailableError {
  return new StoreUnavailableError(`Redis did not answer within ${timeoutMs} ms.`, isWrite);
}

/** @param last what the client reported last, if it did */
export function notConnected(timeoutMs: number, last: unknown): StoreUnavailableError {
  const reason = last === undefined ? '' : ` (${codeOf(last)})`;
  return new StoreUnavailableError(`There was no connection to Redis within ${timeoutMs} ms${reason}.`, false);
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

/** The first word of an answer is its kind; what follows may hold arguments. */
function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  if (typeof code === 'string') return code;
  const word = /^[A-Z]{2,}\b/.exec(messageOf(error))?.[0];
  return word ?? (error instanceof Error ? error.name : 'unknown error');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}
