import type { AppendOutcome } from '../domain/stored/commit.js';
import { InvalidInputError } from '../domain/errors/errors.js';
import type { Session } from '../domain/session/session.js';
import type { SessionEnvironment } from '../session-environment.js';
import { acceptAppend, completeAppend } from './complete-append.js';
import type { PreparedAppend } from './prepared-append.js';

/**
 * Appends inside a transaction of the app. Watches, hooks and the caller's session object get the events after the
 * commit. After a rollback, they get nothing.
 */
export async function storeWithin(
  env: SessionEnvironment,
  append: PreparedAppend,
  transaction: unknown,
  session: Session | undefined,
): Promise<AppendOutcome> {
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
  return storage.appendWithin(append.commit, { transaction, onStored, onError });
}

/** Whether the append was stored. Ignores the error, which the caller has received. */
function isAccepted(env: SessionEnvironment, append: PreparedAppend, outcome: AppendOutcome): boolean {
  try {
    acceptAppend(env, append, outcome);
    return true;
  } catch {
    return false;
  }
}

/** Updates the session object before its first `await`. */
async function completed(...given: Parameters<typeof completeAppend>): Promise<void> {
  const [env, { key, commit }] = given;
  await completeAppend(...given).updating;
  // The caller has its answer, so this is only reported.
  await env.holds.confirm(key, commit.metadata ?? []);
}
