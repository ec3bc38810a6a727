import { BudgetExceededError } from './budget-error.js';
import { SessionsError, StoreUnavailableError } from './errors.js';
import { QuotaExceededError } from './quota-error.js';

/**
 * What operations threw while functions of the app ran, such as hooks. One that lets it through has not answered: it has failed. Nothing is
 * noted unless such a function runs, so that other operations are as fast as before.
 */
const failures = new WeakSet<object>();
let running = 0;

/** Notes what operations throw meanwhile. */
export async function whileAppRuns<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  running++;
  try {
    return await work();
  } finally {
    running--;
  }
}

/** The same promise, whose error is noted if a function of the app runs. */
export function withNotedFailure<Result>(work: Promise<Result>): Promise<Result> {
  if (running === 0) return work;
  return work.catch((error: unknown) => {
    throw noted(error);
  });
}

/** For checks before an operation begins. */
export function noted(error: unknown): unknown {
  if (running > 0 && typeof error === 'object' && error !== null) failures.add(error);
  return error;
}

/** Whether an operation threw this while a function of the app ran. */
function isOfOperation(error: unknown): boolean {
  return typeof error === 'object' && error !== null && failures.has(error);
}

/**
 * Calls a function of the app.
 *
 * @param name what it is, for the log
 */
export async function askApp<Result>(name: string, ask: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await whileAppRuns(ask);
  } catch (error) {
    throw toCallerError(name, error);
  }
}

/**
 * What a function of the app threw, for its caller. An error that it made itself is its answer. One that an operation threw to it is its
 * fault, unless it says that the store is down, or what is used up.
 */
export function toCallerError(name: string, error: unknown): unknown {
  if (!(error instanceof SessionsError) || !isOfOperation(error)) return error;
  if (error instanceof BudgetExceededError || error instanceof QuotaExceededError) return error;
  // Of what the caller asked for, nothing is written yet.
  if (error instanceof StoreUnavailableError) return error.withOutcome(false);
  return faultOf(name, error);
}

/** No `SessionsError`, so that no transport takes it for the mistake of a client. */
export function faultOf(name: string, error: Error): Error {
  return new Error(
    `${name} let an error through that is about something else. Catch it there, or throw an error of your own to ` +
      `refuse. ${error.name}: ${error.message}`,
    { cause: error },
  );
}
