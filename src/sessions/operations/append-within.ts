import { InvalidInputError } from '../domain/errors.js';
import type { AppendOutcome } from '../domain/commit.js';
import type { Session } from '../domain/session.js';
import type { SessionEnvironment } from '../session-environment.js';
import { type CompletedAppend, acceptAppend, completeAppend, withEventIds } from './complete-append.js';
import type { PreparedAppend } from './prepared-append.js';

/**
 * Appends inside a transaction of the app. Watches, hooks and the caller's session object learn of the events after
 * the commit, or never.
 */
export async function appendWithin(
  env: SessionEnvironment,
  append: PreparedAppend,
  transaction: unknown,
  session: Session | undefined,
): Promise<CompletedAppend> {
  const { storage, tasks } = env;
  if (!storage.appendWithin) {
    throw new InvalidInputError(
      'is not possible with this store: use a TypeORM store over the DataSource of the app, or leave it out',
      'transaction',
    );
  }
  const onStored = (outcome: AppendOutcome): void => {
    if (isAccepted(env, append, outcome)) tasks.trackInBackground(completed(env, append, outcome, session));
  };
  const onError = (error: unknown): void => tasks.trackInBackground(Promise.reject(error));
  const appending = storage.appendWithin(append.commit, { transaction, onStored, onError });
  const outcome = await withEventIds(append.commit, appending);
  return acceptAppend(env, append, outcome).completed;
}

/** The caller has got the error of a refused append. */
function isAccepted(env: SessionEnvironment, append: PreparedAppend, outcome: AppendOutcome): boolean {
  try {
    acceptAppend(env, append, outcome);
    return true;
  } catch {
    return false;
  }
}

/** Updates the session object before its first `await`. */
async function completed(...append: Parameters<typeof completeAppend>): Promise<void> {
  await completeAppend(...append);
}
