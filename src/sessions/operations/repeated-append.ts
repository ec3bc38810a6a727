import type { AppendOutcome } from '../domain/stored/commit.js';
import { eventsBytes } from '../domain/stored/byte-budget.js';
import { QuotaExceededError } from '../domain/errors/quota-error.js';
import { asQuestion } from '../domain/write/repeated-commit.js';
import type { Session } from '../domain/session/session.js';
import type { QuotaKeeper } from '../quotas/quota-keeper.js';
import type { SessionEnvironment } from '../session-environment.js';
import { storeWithin } from './append-within.js';
import { type CompletedAppend, completeAppend, withEventIds } from './complete-append.js';
import type { PreparedAppend } from './prepared-append.js';

/** Before anything is written, so that a refused append can be repeated. */
export async function takeQuotas(
  quotas: QuotaKeeper,
  { key, commit }: PreparedAppend,
  overQuota = false,
): Promise<void> {
  await quotas.append(key, commit.events.length, () => eventsBytes(commit.events), overQuota);
}

/** Why quotas have no room for an append; `undefined` if they have, and it is counted. */
export async function quotaRefusal(
  quotas: QuotaKeeper,
  append: PreparedAppend,
  overQuota?: boolean,
): Promise<QuotaExceededError | undefined> {
  try {
    await takeQuotas(quotas, append, overQuota);
    return undefined;
  } catch (error) {
    if (error instanceof QuotaExceededError) return error;
    throw error;
  }
}

/** Where an append would have been written. */
interface RepeatedPlace {
  /** The transaction of the app, if it is within one. */
  readonly transaction: unknown;
  /** The caller's object, if the append was made through one. */
  readonly session: Session | undefined;
}

/**
 * The stored events of an append that quotas refuse: what is stored already needs no room. Throws the refusal if they are not stored. Events
 * without ids of their own are no repetition, so the store is not asked for them.
 */
export async function storedInstead(
  env: SessionEnvironment,
  append: PreparedAppend,
  refusal: QuotaExceededError,
  { transaction, session }: RepeatedPlace,
): Promise<CompletedAppend> {
  if (!append.events.every(({ hasOwnId }) => hasOwnId)) throw refusal;
  const asked = { ...append, commit: asQuestion(append.commit) };
  let outcome: AppendOutcome;
  try {
    outcome = await (transaction === undefined
      ? env.storage.append(asked.commit)
      : storeWithin(env, asked, transaction, session));
  } catch (error) {
    throw withEventIds(error, asked.commit);
  }
  if (outcome.kind !== 'seen') throw refusal;
  // Within a transaction, the object learns of it after the commit.
  const completion = completeAppend(env, asked, outcome, transaction === undefined ? session : undefined);
  await completion.updating;
  return completion;
}
