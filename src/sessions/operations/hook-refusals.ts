import { BudgetExceededError } from '../domain/budget-error.js';
import { SessionNotFoundError, SessionsError, StoreUnavailableError } from '../domain/errors.js';
import type { SessionKey } from '../domain/ids.js';
import { isOfOperation, whileHooksRun } from '../domain/nested-failures.js';
import type { SessionEnvironment } from '../session-environment.js';

/** What runs hooks, and the session that they are asked about. */
export interface HookRun<Result> {
  /** How they were registered. */
  readonly registration: 'onBeforeAppend' | 'onBeforeDelete' | 'onBeforeErase';
  readonly key?: SessionKey | undefined;
  readonly run: () => Promise<Result>;
}

/**
 * Runs hooks that may refuse. An error that a hook made itself is its refusal. One that an operation of the hook threw is its fault, and so
 * is a missing session that is there: it is about something else than what the caller asked for.
 */
export async function askHooks<Result>(
  env: Pick<SessionEnvironment, 'storage' | 'tasks'>,
  { registration, key, run }: HookRun<Result>,
): Promise<Result> {
  try {
    return await whileHooksRun(() => env.tasks.name(`hook of ${registration}`, run()));
  } catch (error) {
    if (error instanceof SessionNotFoundError) {
      if (key && error.sessionId === key.sessionId && !(await env.storage.read({ key }))) throw error;
      throw faultOf(registration, error);
    }
    if (!(error instanceof SessionsError) || !isOfOperation(error)) throw error;
    if (error instanceof BudgetExceededError) throw error;
    // Of what the caller asked for, nothing is written yet.
    if (error instanceof StoreUnavailableError) throw error.withOutcome(false);
    throw faultOf(registration, error);
  }
}

/** No `SessionsError`, so that no transport takes it for the mistake of a client. */
function faultOf(registration: string, error: Error): Error {
  return new Error(
    `A hook of ${registration} let an error through that is about something else. Catch it there, or throw an error of your own to ` +
      `refuse. ${error.name}: ${error.message}`,
    { cause: error },
  );
}
