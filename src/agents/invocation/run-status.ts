import type { EventInput } from '../../sessions/domain/event/event.js';
import { AgentFailedError } from '../errors/agent-failed-error.js';
import { awaitsApproval } from './approval-requests.js';
import { failureIn } from '../errors/failure-reason.js';
import type { SessionKey } from '../../sessions/domain/values/ids.js';

/** How a run ended. */
export type RunStatus = 'completed' | 'stopped' | 'interrupted' | 'waiting';

/** How a run ended, by the events of its invocation. Throws the failure that ended it. */
export function findEnd(
  events: readonly EventInput[],
  invocationId: string,
  { key, agentName }: { readonly key: SessionKey; readonly agentName: string },
): RunStatus {
  const failure = failureIn(events.at(-1) ?? {});
  if (failure) {
    const run = { ...key, invocationId, agentName };
    throw new AgentFailedError(failure.reason, { retryable: failure.retryable, run });
  }
  return toRunStatus(events);
}

/** How an invocation ended, by its last events. */
function toRunStatus(events: readonly EventInput[]): RunStatus {
  const last = events.at(-1);
  if (last?.interrupted === true) return last.errorCode === 'STOPPED' ? 'stopped' : 'interrupted';
  return last && awaitsApproval(last) ? 'waiting' : 'completed';
}
