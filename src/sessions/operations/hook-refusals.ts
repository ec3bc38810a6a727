import { SessionNotFoundError } from '../domain/errors/errors.js';
import type { SessionKey } from '../domain/values/ids.js';
import { toCallerError, faultOf, whileAppRuns } from '../domain/errors/nested-failures.js';
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
  const name = `A hook of ${registration}`;
  try {
    return await whileAppRuns(() => env.tasks.name(`hook of ${registration}`, run()));
  } catch (error) {
    if (!(error instanceof SessionNotFoundError)) throw toCallerError(name, error);
    if (key && error.sessionId === key.sessionId && !(await env.storage.read({ key }))) throw error;
    throw faultOf(name, error);
  }
}
