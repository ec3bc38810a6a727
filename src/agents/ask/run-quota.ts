import { QuotaExceededError } from '../../sessions/domain/quota-error.js';
import { environmentBehind } from '../../sessions/service-environment.js';
import type { SessionService } from '../../sessions/session.service.js';
import { findMessage } from './queue.js';
import type { CheckedRun } from './run-request.js';

/**
 * Counts a run that begins, or refuses it. A message that was stored before is answered all the same, unless it is to be answered anew.
 *
 * @example await takeRunQuota(sessions, checkedRun(request));
 */
export async function takeRunQuota(
  sessions: SessionService,
  {
    key,
    invocationId,
    mayBeRetry,
    retriesFailure,
  }: Pick<CheckedRun, 'key' | 'invocationId' | 'mayBeRetry' | 'retriesFailure'>,
): Promise<void> {
  try {
    await environmentBehind(sessions).quotas?.run(key);
  } catch (error) {
    if (!(error instanceof QuotaExceededError) || !mayBeRetry || retriesFailure) throw error;
    const found = await findMessage(sessions, key, invocationId).catch(() => undefined);
    if (!found?.message) throw error;
  }
}
