import { setTimeout as delay } from 'node:timers/promises';
import {
  EventConflictError,
  SessionNotFoundError,
  StaleSessionError,
  StoreUnavailableError,
} from '../errors/errors.js';

/** How often a write is tried while others come first. */
const MOST_ATTEMPTS = 60;
/** How often a write is sent whose outcome is unknown. Each try may have taken all the time that a store has. */
const MOST_SENT = 4;
const PAUSES = { firstMs: 4, maxMs: 40 };

type Work<Result> = (attempt: number) => Promise<Result>;

/**
 * Reads, decides and writes again while another writer comes first. The last error is thrown after a second or so.
 *
 * @param work reads what it writes on, each time
 * @param isOvertaken whether an error says that another write came first; default: a `StaleSessionError`
 *
 * @example await retryOvertaken(async () => save(changed(await load())));
 */
export async function retryOvertaken<Result>(
  work: Work<Result>,
  isOvertaken: (error: unknown) => boolean = (error) => error instanceof StaleSessionError,
): Promise<Result> {
  return retry(work, isOvertaken, MOST_ATTEMPTS);
}

/**
 * Whether others appended to the session that was written, also with the same ids, or created or deleted it.
 *
 * @example await retryOvertaken(async () => append(await read()), isSessionChanged);
 */
export function isSessionChanged(error: unknown): boolean {
  return [StaleSessionError, SessionNotFoundError, EventConflictError].some((kind) => error instanceof kind);
}

/**
 * The same for work that returns `undefined` if another writer came first. Returns `undefined` if that was so each time.
 *
 * @example const written = await retryUndefined(async () => tryToSave(changed(await load())));
 */
export async function retryUndefined<Result>(work: Work<Result | undefined>): Promise<Result | undefined> {
  const overtaken = new Error('Others came first each time.');
  const written = async (attempt: number): Promise<Result> => {
    const result = await work(attempt);
    if (result === undefined) throw overtaken;
    return result;
  };
  const isOvertaken = (error: unknown): boolean => error === overtaken;
  return retry(written, isOvertaken, MOST_ATTEMPTS).catch((error: unknown) => {
    if (!isOvertaken(error)) throw error;
    return undefined;
  });
}

/**
 * Sends the same write again while its outcome is unknown.
 *
 * @param send sends the same ids each time, so that what has arrived is not stored twice
 * @param mayRepeat whether it may be sent again after an error; default: if that leaves the outcome unknown
 *
 * @example await retryUnknown(async () => sessions.appendEvent({ session, event: { ...event, id } }));
 */
export async function retryUnknown<Result>(
  send: Work<Result>,
  mayRepeat: (error: unknown) => boolean = (error) => error instanceof StoreUnavailableError && error.outcomeUnknown,
): Promise<Result> {
  return retry(send, mayRepeat, MOST_SENT);
}

async function retry<Result>(work: Work<Result>, mayPass: (error: unknown) => boolean, most: number): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (attempt >= most || !mayPass(error)) throw error;
    }
    await delay(pauseMs(attempt, Math.random()));
  }
}

/**
 * Anything from none to the longest pause of this attempt: writers that met wait for different times, so that they do not meet
 * again. A pause that differs only by a part of it would leave them together.
 *
 * @param random 0 to 1
 */
export function pauseMs(attempt: number, random: number): number {
  return random * Math.min(PAUSES.maxMs, PAUSES.firstMs * 2 ** (attempt - 1));
}
