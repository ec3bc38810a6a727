import { QuotaExceededError } from '../../sessions/domain/errors/quota-error.js';
import { environmentBehind } from '../../sessions/service-environment.js';
import type { SessionService } from '../../sessions/session.service.js';
import { findMessage } from './queue.js';
import type { CheckedRun } from './run-request.js';

/** Which run is asked for. */
export type RunIdentity = Pick<CheckedRun, 'key' | 'invocationId' | 'mayBeRetry' | 'retriesFailure'>;

/**
 * Whether the message of a run was stored before, as of a client that lost its connection. It is answered, or its answer is read, whatever
 * is used up meanwhile; but not if it is to be answered anew.
 */
export async function hasBegun(
  sessions: SessionService,
  { key, invocationId, mayBeRetry, retriesFailure }: RunIdentity,
): Promise<boolean> {
  if (!mayBeRetry || retriesFailure) return false;
  const found = await findMessage(sessions, key, invocationId).catch(() => undefined);
  return found?.message !== undefined;
}

/**
 * Counts a run that begins, or refuses it.
 *
 * @example await takeRunQuota(sessions, checkedRun(request));
 */
export async function takeRunQuota(sessions: SessionService, run: RunIdentity): Promise<void> {
  try {
    await environmentBehind(sessions).quotas?.run(run.key);
  } catch (error) {
    if (!(error instanceof QuotaExceededError) || !(await hasBegun(sessions, run))) throw error;
  }
}
